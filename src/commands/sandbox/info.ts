import { defineCommand } from "../../cli/command/define-command.ts";
import { card, field, text } from "../../cli/output/view.ts";

export const sandboxInfo = defineCommand({
  name: "sandbox info",
  summary: "Show what the service says of the sandbox account",
  details: "Which fields there are is the service's affair; all of them are shown.",
  examples: [{ line: "lenden sandbox info", says: "all that the service says of it" }],
  sandboxOnly: true,
  exits: ["access", "unreachable"],
  async run(_, context) {
    const { dataOf } = await import("../../operations/response-failure.ts");
    return dataOf(await (await context.world()).client.sandboxInfo({}));
  },
  view: (info) => {
    const fields =
      typeof info === "object" && info !== null ? Object.entries(info) : [["info", info]];
    return card(
      "Sandbox",
      "",
      fields.map(([name, value]) => field(String(name), String(name), text(shown(value)))),
    );
  },
});

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
