import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { paymentCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";

export const payGet = defineCommand({
  name: "pay get",
  summary: "Show a payment and its status, as the service has it now",
  details: "Only this tells whether a payment has happened: redirects and callbacks can be forged.",
  examples: [
    { line: "lenden pay get TX8F3K2Q", says: "its amount, what it is for, and its status" },
  ],
  arguments: {
    transactionId: argument.required(
      "transactionId",
      "The id that 'lenden pay create' printed, or @last",
      readIdentifier,
      "payment",
    ),
  },
  exits: ["access", "not-found", "unreachable"],
  async run(input, context) {
    const transactionId = await context.idOf("payment", input.transactionId);
    const { getRecord } = await import("../../operations/status.ts");
    return getRecord("payment", transactionId, await context.world());
  },
  view: paymentCard,
});
