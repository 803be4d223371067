import { defineCommand } from "../cli/command/define-command.ts";
import { id, table, text } from "../cli/output/view.ts";

export const methods = defineCommand({
  description: "Shows the ID, code and name of each method. --method accepts any of them.",
  examples: { "List the methods of the account": "lenden methods" },

  async run(_, context) {
    const { listMethods } = await import("../operations/method.ts");
    return listMethods(await context.api.deps(), await context.api.methodCache());
  },
  output: ({ methodList }) => methodList,
  view: (found) =>
    table(found, {
      id: ({ id }) => id,
      empty: "This account has no payment methods. Enable them in the merchant dashboard.",
      columns: {
        codeName: ["CODE", ({ codeName }) => id(codeName)],
        providerName: ["NAME", ({ providerName }) => text(providerName)],
        id: ["ID", (method) => id(method.id)],
      },
    }),
});
