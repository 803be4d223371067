import { defineCommand } from "../cli/command/define-command.ts";
import { id as idCell, text } from "../cli/output/view.ts";

export const methods = defineCommand({
  name: "methods",
  summary: "List the payment methods of the account",
  details:
    "The ids, code names and names that --method takes. The list is kept for a day, so that other commands need not ask for it.",
  examples: [
    { line: "lenden methods", says: "what the account can pay and be paid with" },
    { line: "lenden methods --json", says: "the same as JSON, for a script" },
  ],
  exits: ["access", "unreachable"],
  async run(_, context) {
    const { listMethods } = await import("../operations/method.ts");
    return listMethods(await context.world(), await context.methodCache());
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
    empty: "No payment method is enabled on this account; the merchant dashboard enables them.",
  }),
});
