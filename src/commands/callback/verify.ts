import { readPasted } from "../../callbacks/content.ts";
import { verify } from "../../callbacks/verify.ts";
import { readWord } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { card } from "../../cli/output/view.ts";
import { readAmount } from "../../domain/amount.ts";
import { lookFor } from "./deps.ts";
import { endingOf, verdictFields } from "./output.ts";

export const callbackVerify = defineCommand({
  description:
    "Reads a body, a query string, a URL or a whole HTTP request. The record that it names by transactionId, refundRequestId or payoutId is retrieved. 'verified': every field that has the name of one of the record's fields agrees with it. 'forged': it claims Completed, and the API does not. 'mismatched': another field differs. 'unknown': it names no record that the API knows, or is neither a JSON object nor a form.",
  examples: [
    {
      comment: "A body that your handler received",
      command: "lenden callback verify callback.json",
    },
    {
      comment: "The parameters of a redirect, and the price of the order",
      command:
        "echo 'transactionId=TX8F3K2Q&status=Completed' | lenden callback verify --expect-amount 1250.50",
    },
  ],
  arguments: {
    file: argument.optional(
      "file",
      "A file (default: standard input, as with -)",
      readWord,
      "file",
    ),
  },
  flags: {
    expectAmount: flag.optional(
      "--expect-amount <bdt>",
      "The amount that the record must have",
      readAmount,
    ),
    expectRef: flag.optional(
      "--expect-ref <text>",
      "The description that the record must have",
      readWord,
    ),
  },
  exitCodes: { unverified: "verification failed" },
  async run({ file, expectAmount, expectRef }, context) {
    const written = await readSmallText(file ?? "-", nameOf(file), context.host);
    const expected = { amountPaisa: expectAmount, reference: expectRef };
    const { verdict, because, records } = await verify(
      readPasted(written),
      await lookFor(context.api),
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
