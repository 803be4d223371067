import { endingOf, type Sum } from "../../../batches/status.ts";
import { readCount } from "../../../cli/command/common-flags.ts";
import type { Batch } from "../../../cli/command/context.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import type { Preview } from "../../../cli/command/preview.ts";
import { readAmount } from "../../../domain/amount.ts";
import { Failure, type FailureKind } from "../../../domain/failure.ts";
import { patienceOf, waitFlags } from "../../patience.ts";
import { batchFailure } from "./ending.ts";
import { newBatch, previewOf, resumedBatch } from "./planned.ts";
import { sendWithProgress } from "./sending.ts";
import { sourceFlags, sourceInput } from "./source.ts";
import {
  adviceOn,
  type BatchStanding,
  readStanding,
  standingCard,
  standingJson,
  sumJson,
} from "./standing-card.ts";
import { waitWithProgress } from "./waiting.ts";

export const batchSend = defineCommand({
  name: "payout batch send",
  summary: "Pay everybody in a file, each row once",
  details:
    "The whole file is read and checked first: one bad row means that nothing is sent. Then its rows are written into the ledger as a plan, and the file is not read again. The same command again continues where the first one ended, rows with an unknown outcome first; no row is paid twice. A refused row does not stop the others; a conflict, a refused key, a failing ledger, five rows in a row without a response, or ten identical rejections in a row do. --dry-run shows the request of the first row.",
  examples: [
    {
      line: "lenden payout batch send payroll.csv",
      says: "after 'lenden payout batch check payroll.csv'",
    },
    {
      line: "lenden payout batch send payroll.csv --yes --expect-total 152000.50 --expect-count 12",
      says: "from a script, in production",
    },
    {
      line: "lenden payout batch send payroll.csv --concurrency 16 --wait",
      says: "sixteen rows at a time, until all are Completed or Cancelled",
    },
  ],
  arguments: sourceInput,
  flags: {
    ...sourceFlags,
    concurrency: flag.optional(
      "--concurrency <n>",
      "Rows at a time (default 4, at most 64)",
      readCount(64),
    ),
    rate: flag.optional("--rate <n>", "At most so many requests a second", readCount(10_000)),
    expectTotal: flag.optional(
      "--expect-total <bdt>",
      "Send only if this is the file's total",
      readAmount,
    ),
    expectCount: flag.optional(
      "--expect-count <n>",
      "Send only if the file has so many rows",
      readCount(1_000_000_000),
    ),
    ...waitFlags,
  },
  writes: true,
  patient: true,
  exits: [
    "internal",
    "refused",
    "access",
    "conflict",
    "mixed",
    "locked",
    "pending",
    "unreachable",
    "uncertain",
    "interrupted",
  ],
  async run(input, context): Promise<Sent | Preview> {
    const { hashOf } = await import("../../../batches/csv.ts");
    const hash = await hashOf(input.file);
    const ledger = await context.ledger();
    await context.payoutSecret();
    if (input.dryRun) return previewOf(input, hash, ledger, context);
    const known = await ledger.batches.ofFile(hash, input.name);
    const batch = known
      ? await resumedBatch(known, input, ledger, context)
      : await newBatch(input, hash, ledger, context);
    const pacing = { concurrency: input.concurrency ?? 4, perSecond: input.rate };
    const { stopped, existing, because } = await sendWithProgress(batch, pacing, ledger, context);
    const readSent = async () => {
      if (input.wait && !stopped) await waitWithProgress(batch, patienceOf(input), ledger, context);
      const standing = await readStanding(batch, ledger);
      return { standing, advice: await adviceOn(standing, ledger) };
    };
    const { standing, advice } = await readSent().catch((error) => {
      throw failedAfterSending(error, batch);
    });
    if (advice) context.notice(advice);
    const stoppedBy = stopped?.kind;
    return { ...standing, existing, waited: input.wait, stoppedBy, because, advice };
  },
  json: (done) => ({ ...standingJson(done), existing: sumJson(done.existing) }),
  view: (done) => standingCard(done),
  ending: (done) =>
    batchFailure(endingOf(done.sums, done), done, { because: done.because, hint: done.advice }),
});

/** Exit 1 says that nothing was sent, which is not known once the rows were. */
function failedAfterSending(cause: unknown, { id }: Batch): unknown {
  if (cause instanceof Failure && cause.kind !== "internal") return cause;
  const why = cause instanceof Failure ? ` ${cause.message}` : "";
  return new Failure(
    "batch.outcome-unknown",
    `Batch ${id} was sent, but the states of its rows cannot be read.${why}`,
    {
      hint: `Run 'lenden ledger check', then 'lenden payout batch status ${id}'. Do not send the rows in another way.`,
      operation: id,
      cause,
    },
  );
}

interface Sent extends BatchStanding {
  /** What the service had already, and this run did not pay. */
  existing: Sum;
  waited: boolean;
  stoppedBy: FailureKind | undefined;
  /** What ended it early, in words. */
  because: string | undefined;
  advice: string | undefined;
}
