import {
  accountNumberAsIs,
  again,
  amount,
  method,
  readText,
} from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { writeCommand } from "../../cli/command/write-command.ts";
import type { Paisa } from "../../domain/amount.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { type Mobile, mobileText, readAnyRecipient, readRecipient } from "../../domain/mobile.ts";
import { formatPaisa } from "../../domain/money.ts";
import { generatedPrefix, readReference } from "../../domain/reference.ts";
import { payoutCard, warnOfRecipient } from "../resources.ts";
import { endingAfter, recordAfter, waitFlags } from "../wait-options.ts";

export const payoutSend = writeCommand({
  description:
    "The reference (--ref) acts as an idempotency key: the API creates one payout per reference. If the outcome is unknown (exit 75), run the command again with the same --ref. Without --ref, the same amount to the same recipient is rejected for 24 hours, unless --again is set. If the API rejects it, the same command uses the same reference again.",
  examples: {
    "Send a payout with your own reference":
      "lenden payout send --amount 500 --to 01712345678 --method bkash --ref INV-7",
    "Send it, and wait for the final status":
      "lenden payout send --amount 500 --to 01712345678 --method bkash --ref INV-7 --wait",
  },
  flags: {
    amount,
    to: flag.required("--to <number>", "Recipient's mobile number, 01XXXXXXXXX", (text) =>
      readAnyRecipient(text, true),
    ),
    accountNumberAsIs,
    ...method,
    ref: flag.optional(
      "--ref <reference>",
      "Your unique reference (default: generated)",
      readReference,
    ),
    name: flag.optional("--name <text>", "Recipient's name", readText),
    description: flag.optional("--description <text>", "Description of the payout", readText),
    again,
    ...waitFlags,
  },
  problems: ({ to, accountNumberAsIs = false }) =>
    numberProblems(to, accountNumberAsIs).map((problem) => `--to: ${problem}`),
  exitCodes: {
    conflict: "the reference belongs to a different payout",
    cancelled: "the payout is Cancelled; a new one needs a new reference",
    uncertain: "outcome unknown; run it again with the reference in the message",
  },
  guide: async (context, { dryRun }) => {
    await context.config.account();
    if (!dryRun) await context.config.payoutSecret();
    // In the line that the dialogue shows at its end: run again, that is the same payout.
    const preset = (known: KnownOrder) => offeredReference(known, context);
    return {
      amount: { message: "Amount (BDT)" },
      to: {
        message: "Recipient's mobile number",
        look: async (number, { accountNumberAsIs = false }) => {
          const problems = numberProblems(number, accountNumberAsIs);
          if (problems.length > 0) throw usage(problems);
        },
      },
      ref: { isOffered: true, preset },
    };
  },
  async resolve(input, { api, config, host }) {
    if (!input.dryRun) await config.payoutSecret();
    if (input.to.account !== undefined && !input.accountNumberAsIs) {
      const number = readRecipient(input.to.account, await api.isRocket(input));
      if (!number.ok) throw usage([`--to: ${number.problem}`]);
    }
    const { numberFormat } = await config.settings();
    const order = {
      amountPaisa: input.amount,
      reference: input.ref ?? (await newReference(host)),
      recipientNumber: mobileText(input.to, numberFormat.value),
      recipientName: input.name,
      description: input.description,
      methodName: input.methodId === undefined ? input.method : undefined,
    };
    return {
      ...input,
      order,
      how: { again: input.again, isReferenceMade: input.ref === undefined },
    };
  },
  async preview({ order, ...input }, { api }) {
    const { payoutBody } = await import("../../operations/payout/order.ts");
    const paymentMethodId = await api.methodId({ ...input, dryRun: true });
    return api.preview("createPayout", payoutBody({ ...order, paymentMethodId }));
  },
  async question({ order, how, ...input }, { api, ledger, ui }) {
    const { previewClaim, describeEarlier } = await import("../../operations/payout/claim.ts");
    const { describeDeclared } = await import("../../operations/declared-text.ts");
    // A duplicate is rejected before the method's ID is requested.
    const paymentMethodId = await api.methodId({ ...input, dryRun: true });
    const expected = await previewClaim({ ...order, paymentMethodId }, how, await ledger.own());
    if (input.ref !== undefined) ui.concerns(order.reference);
    return {
      action: "Send a payout",
      amountPaisa: input.amount,
      rows: [
        ["Amount", formatPaisa(input.amount)],
        ["To", order.recipientNumber],
        ["Method", input.methodId ?? input.method ?? ""],
        ["Reference", expected.reference],
        [
          "Earlier payout",
          expected.earlier && describeEarlier(expected.earlier, expected.reference),
        ],
        [
          "Recorded by others",
          expected.declared && describeDeclared(expected.declared, expected.reference),
        ],
      ],
    };
  },
  async send({ order, how, ...input }, context) {
    const { possibleDuplicate } = await import("../../operations/payout/claim.ts");
    const { sendPayout } = await import("../../operations/payout/send.ts");
    const { reference } = order;
    if (input.accountNumberAsIs) await warnOfRecipient(input, context);
    const paymentMethodId = await context.api.methodId({ ...input, dryRun: false });
    const paid = { ...order, paymentMethodId };
    const deps = await context.api.deps();
    let claimed = reference;
    const onRecorded = (own: string) => {
      claimed = own;
      context.ui.concerns(own);
      if (own !== reference)
        context.ui.notice(
          `Reference: ${own}, that of the last attempt, which was rejected or not sent.`,
        );
      else if (input.ref === undefined) context.ui.notice(`Reference: ${own}`);
    };
    const sent = await sendPayout(paid, deps, { ...how, onRecorded });
    if (sent.earlier) context.ui.notice(...possibleDuplicate(sent.earlier, claimed));
    const existing = sent.existing && (input.ref !== undefined || claimed !== reference);
    if (existing)
      context.ui.notice(
        `A payout with reference ${claimed} already exists: no new one was created.`,
      );
    const done = await recordAfter("payout", sent.payout.payoutId, sent.payout, input, deps);
    return { ...done, record: { ...done.record, existing } };
  },
  /** `existing` is true if the API had this reference before this run. */
  output: ({ z, record, dryRun }) =>
    z.union([record("retrievePayout", { existing: z.boolean() }), dryRun]),
  json: ({ record }) => record,
  view: ({ record }) => payoutCard(record),
  ending: (done) =>
    done.record.existing && done.record.status === "Cancelled"
      ? new Failure("payout.existing-cancelled", "The existing payout is Cancelled.", {
          hint: "To send a new payout, use a new --ref.",
          operation: done.record.payoutId,
        })
      : endingAfter(done),
});

function numberProblems(to: Mobile | undefined, asIs: boolean): string[] {
  const reading = to?.isOther && !asIs ? readRecipient(to.typed, true) : undefined;
  return reading?.ok === false ? [reading.problem] : [];
}

/** What a dialogue knows of a payout before it asks for the reference. */
interface KnownOrder {
  amount?: Paisa;
  to?: Mobile;
  method?: string | undefined;
  methodId?: string | undefined;
  again?: boolean;
}

/** The reference of the same payout that was rejected or not sent; else a new one. */
async function offeredReference(
  { amount: amountPaisa, to, method, methodId, again = false }: KnownOrder,
  { api, config, host, ledger }: Context,
): Promise<string> {
  const reference = await newReference(host);
  if (again || amountPaisa === undefined || to === undefined) return reference;
  const { reusedReference } = await import("../../operations/payout/claim.ts");
  const { numberFormat } = await config.settings();
  const recipientNumber = mobileText(to, numberFormat.value);
  const paymentMethodId = await api.methodId({ method, methodId, dryRun: false });
  const order = { amountPaisa, reference, recipientNumber, paymentMethodId };
  return reusedReference(order, await ledger.own());
}

/** Shown once it is recorded, before anything is sent: a retry needs it. */
async function newReference({ now, randomBytes }: Context["host"]): Promise<string> {
  const { ulid } = await import("ulid");
  return `${generatedPrefix}${ulid(now(), () => (randomBytes(1)[0] ?? 0) / 256)}`;
}
