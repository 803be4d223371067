import { defineCommand } from "../../cli/command/define-command.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { isObject } from "../../domain/json.ts";

export const sandboxInfo = defineCommand({
  examples: { "Show all details": "lenden sandbox info" },
  sandboxOnly: true,

  async run(_, context) {
    const { dataOf } = await import("../../operations/response-failure.ts");
    return dataOf(await (await context.api.deps()).client.sandboxInfo({}));
  },
  view: (info) => {
    const shown = (value: unknown) =>
      typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    const fields = Object.entries(isObject(info) ? info : { info });
    return card(
      "Sandbox",
      "",
      fields.map(([name, value]) => field(name, name, text(shown(value)))),
    );
  },
});
