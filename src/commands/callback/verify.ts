import { readWord } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { card } from "../../cli/output/view.ts";
import { readAmount } from "../../domain/amount.ts";
import { lookFor } from "./looking.ts";
import { endingOf, verdictFields } from "./verdict.ts";

export const callbackVerify = defineCommand({
  name: "callback verify",
  summary: "Hold a callback against the service: verified, forged, mismatched or unknown",
  details:
    "Takes a body, a query string, an address, or a whole HTTP request. Every payment and refund that it names is retrieved, and all that it claims is compared. 'forged': it claims Completed, and the service does not. 'mismatched': the service has something else under this id. 'unknown': it names nothing that the service knows, claims no status of what is still Processing, or is neither JSON nor a form, so that what it claims cannot be compared.",
  examples: [
    { line: "lenden callback verify callback.json", says: "what a handler was sent" },
    {
      line: "echo 'transactionId=TX8F3K2Q&status=Completed' | lenden callback verify --expect-amount 1250.50",
      says: "the parameters of a redirect, and what the order costs",
    },
  ],
  arguments: {
    file: argument.optional("file", "A file; - or nothing is standard input", readWord, "file"),
  },
  flags: {
    expectAmount: flag.optional(
      "--expect-amount <bdt>",
      "The amount that the service must have, whatever is claimed",
      readAmount,
    ),
    expectRef: flag.optional(
      "--expect-ref <text>",
      "The description that the service must have, for example an order's number",
      readWord,
    ),
  },
  exits: ["access", "unverified", "unreachable"],
  async run({ file, expectAmount, expectRef }, context) {
    const written = await readSmallText(file ?? "-", nameOf(file), context.host);
    const { readPasted } = await import("../../callbacks/pasted.ts");
    const { verify } = await import("../../callbacks/verify.ts");
    const expected = { amountPaisa: expectAmount, reference: expectRef };
    const { verdict, because, records } = await verify(
      readPasted(written),
      await lookFor(context),
      expected,
    );
    return { verdict, because, records };
  },
  view: (checked) => card("Callback", checked.verdict, verdictFields(checked)),
  ending: endingOf,
});

function nameOf(file: string | undefined): string {
  return file === undefined || file === "-" ? "standard input" : file;
}
