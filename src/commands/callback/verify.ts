import { readPasted } from "../../callbacks/content.ts";
import { unlessDiffering, verify } from "../../callbacks/verify.ts";
import { readText } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { card } from "../../cli/output/view.ts";
import { readAmount } from "../../domain/amount.ts";
import { endingOf, verdictFields, verdictOutput } from "./callbacks.ts";

export const callbackVerify = defineCommand({
  description:
    "Compares a body, a query string, a URL or a whole HTTP request with the API's record. 'verified': the fields that both have are equal. 'forged': only the callback says Completed; 'mismatched': another field differs; 'unknown': the text cannot be read, or the API has no such record.",
  examples: {
    "Verify a body that your handler received": "lenden callback verify callback.json",
    "Verify the parameters of a redirect, and the price of the order":
      "echo 'transactionId=TX8F3K2Q&status=Completed' | lenden callback verify --expect-amount 1250.50",
  },
  arguments: {
    file: argument.optional("file", "File, or - (default: standard input)", readText, "file"),
  },
  flags: {
    expectAmount: flag.optional("--expect-amount <bdt>", "Amount the record must have", readAmount),
    expectRef: flag.optional(
      "--expect-ref <text>",
      "Description or reference that it must have",
      readText,
    ),
  },
  exitCodes: { unverified: "the callback is not verified" },
  async run({ file = "-", expectAmount, expectRef }, context) {
    const name = file === "-" ? "standard input" : file;
    const written = await readSmallText(file, name, context.host);
    const expected = { amountPaisa: expectAmount, reference: expectRef };
    const { conflictOf, lookIn } = await import("../../callbacks/look.ts");
    const deps = await context.api.deps();
    const { retrieved, ...compared } = await verify(readPasted(written), lookIn(deps), expected);
    return unlessDiffering(compared, retrieved && (await conflictOf(retrieved, deps)));
  },
  output: (schema) =>
    schema.z.strictObject({ ...verdictOutput(schema), warnings: schema.warnings }),
  view: (checked) => card("Callback", checked.verdict, verdictFields(checked)),
  ending: endingOf,
});
