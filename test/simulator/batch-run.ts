import { claimBatch, planBatch, resumeBatch } from "../../src/batch/claim.ts";
import { aDayBefore, leftByOtherKeys, paidElsewhere } from "../../src/batch/elsewhere.ts";
import { addUp, endingOf, type Standings } from "../../src/batch/standing.ts";
import { sendBatch } from "../../src/batches/send.ts";
import { Failure, usage } from "../../src/failure.ts";
import type { Batch } from "../../src/ledger/batches/batch.ts";
import type { ProblemKind } from "../../src/ledger/drafts/problems.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { payoutFingerprint } from "../../src/operations/payout/claim.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import type { World } from "../../src/operations/world.ts";
import type { Place, Ran } from "./commands.ts";
import { Tool } from "./tool.ts";

/** A file of payouts as one command gives it. */
export interface PaidFile {
  name: string;
  /** SHA-256 of its bytes, as it would be. */
  hash: string;
  orders: PayoutOrder[];
  concurrency: number;
  allowDuplicates: boolean;
}

/** One process that sends the batch, from reading the file to its exit code. */
export async function sendsBatch(
  file: PaidFile,
  { universe, network }: Place,
): Promise<Ran<Standings>> {
  const { allowDuplicates: again, concurrency, orders } = file;
  const references = orders.map(({ reference }) => reference);
  const tool = new Tool(universe, `batch ${file.name}`, { again, isBatch: true, references });
  const ended = await tool.run(
    (request, one) => network.exchange(request, one),
    async (world) => {
      const ledger = await tool.ledger();
      const batch = await planOf(file, ledger, world, {
        question: () => network.question(tool),
        forget: () => universe.disk.forgetDraft(),
      });
      const sending = { batch, ledger, concurrency, perSecond: undefined, onRow: () => {} };
      const reason = await sendBatch(sending, world);
      const sums = addUp(batch, ledger.batches().tally(batch));
      const kind = endingOf(sums, { stoppedBy: reason?.kind });
      if (kind) throw new Failure(kind, reason?.message ?? `ended ${kind}`);
      return sums;
    },
  );
  return { tool, ended, startedMs: tool.startedMs };
}

/** What `payout batch send` does before its first row, without the reading of the file and the questions. */
async function planOf(
  file: PaidFile,
  ledger: Ledger,
  world: World,
  { question, forget }: { question: () => Promise<void>; forget: () => void },
): Promise<Batch> {
  const known = ledger.batches().ofFile(file.hash);
  if (known?.plan) return resumed(known, file, ledger);
  try {
    const draft = ledger.batches().draft();
    for (const [index, order] of file.orders.entries()) draft.add(rowOf(index, order, world));
    draft.finish({ since: aDayBefore(world.now()), places: { ref: 1, to: 2 } });
    const always: ProblemKind[] = ["cell", "taken", "used"];
    const optional: ProblemKind[] = ["repeated", "again", "other key"];
    const kinds = file.allowDuplicates ? always : [...always, ...optional];
    if (draft.problemCount(kinds) > 0)
      throw usage(draft.problems(kinds, 3).map(({ problem }) => problem));
    const shown = file.allowDuplicates ? draft.again() : { count: 0, sumPaisa: 0n, mark: "" };
    const { name, hash } = file;
    const source = { name, fileName: name, hash, columns: ["ref"], method: null };
    const batch = claimBatch(source, draft, ledger);
    if (batch.plan) throw new Error("a file that was not planned has a plan");
    await question();
    return unlessRejected(batch, ledger, () => planBatch(batch, draft, ledger, shown));
  } finally {
    forget();
  }
}

function resumed(known: Batch, { allowDuplicates }: PaidFile, ledger: Ledger): Batch {
  const batch = resumeBatch(known, undefined, ledger);
  return unlessRejected(batch, ledger, () => {
    if (allowDuplicates) return batch;
    const problems = [...leftByOtherKeys(batch, ledger), ...paidElsewhere(batch, ledger).first];
    if (problems.length > 0) throw usage(problems.map(({ says }) => says));
    return batch;
  });
}

function unlessRejected(batch: Batch, ledger: Ledger, work: () => Batch): Batch {
  try {
    return work();
  } catch (error) {
    ledger.batches().letGo(batch);
    throw error;
  }
}

function rowOf(index: number, order: PayoutOrder, world: World) {
  const { reference, amountPaisa, recipientNumber: recipient, paymentMethodId: methodId } = order;
  const cells = { method: methodId, name: null, description: null, cells: [reference] };
  const fingerprint = payoutFingerprint(order, world);
  const [row, line] = [index + 1, index + 2];
  return { row, line, reference, amountPaisa, recipient, methodId, fingerprint, ...cells };
}
