import { defineCommand } from "../cli/command/define-command.ts";
import { id as idCell, text } from "../cli/output/view.ts";

export const methods = defineCommand({
  description:
    "Shows the IDs, codes and names that --method accepts. lenden caches the list for a day.",
  examples: [
    { comment: "List the methods of the account", command: "lenden methods" },
    { comment: "Print them as JSON", command: "lenden methods --json" },
  ],

  async run(_, context) {
    const { listMethods } = await import("../operations/method.ts");
    return listMethods(await context.api.deps(), await context.api.methodCache());
  },
  view: (found) => ({
    kind: "table",
    columns: [
      { key: "codeName", label: "CODE" },
      { key: "providerName", label: "NAME" },
      { key: "id", label: "ID" },
    ],
    rows: found.map(({ id, codeName, providerName }) => ({
      id,
      cells: { id: idCell(id), codeName: idCell(codeName), providerName: text(providerName) },
    })),
    empty: "This account has no payment methods. Enable them in the merchant dashboard.",
  }),
});
