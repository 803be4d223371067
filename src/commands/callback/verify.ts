import { readPasted } from "../../callbacks/content.ts";
import { verify } from "../../callbacks/verify.ts";
import { readWord } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { card } from "../../cli/output/view.ts";
import { readAmount } from "../../domain/amount.ts";
import { endingOf, lookFor, verdictFields } from "./callbacks.ts";

export const callbackVerify = defineCommand({
  description:
    "Reads a body, a query string, a URL or a whole HTTP request, and compares it with the API's record. 'verified': all common fields are equal. 'forged': only the callback has Completed; 'mismatched': another field differs; 'unknown': the API has no such record.",
  examples: {
    "Verify a body that your handler received": "lenden callback verify callback.json",
    "Verify the parameters of a redirect, and the price of the order":
      "echo 'transactionId=TX8F3K2Q&status=Completed' | lenden callback verify --expect-amount 1250.50",
  },
  arguments: {
    file: argument.optional("file", "Callback, or - (default: standard input)", readWord, "file"),
  },
  flags: {
    expectAmount: flag.optional("--expect-amount <bdt>", "Amount the record must have", readAmount),
    expectRef: flag.optional(
      "--expect-ref <text>",
      "Description or reference it must have",
      readWord,
    ),
  },
  exitCodes: { unverified: "the callback is not verified" },
  async run({ file, expectAmount, expectRef }, context) {
    const written = await readSmallText(file ?? "-", nameOf(file), context.host);
    const expected = { amountPaisa: expectAmount, reference: expectRef };
    const { verdict, explanation, records } = await verify(
      readPasted(written),
      await lookFor(context.api),
      expected,
    );
    return { verdict, explanation, records };
  },
  view: (checked) => card("Callback", checked.verdict, verdictFields(checked)),
  ending: endingOf,
});

function nameOf(file: string | undefined): string {
  return file === undefined || file === "-" ? "standard input" : file;
}
