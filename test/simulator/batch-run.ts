import { type CheckedFile, findInLedger, findingsAmong } from "../../src/batches/check.ts";
import { isAcceptable } from "../../src/batches/findings.ts";
import { identify } from "../../src/batches/identity.ts";
import { createBatch, type HeldPlan, resumeBatch } from "../../src/batches/plan.ts";
import type { FileRow } from "../../src/batches/rows.ts";
import { assertSameRows } from "../../src/batches/same-rows.ts";
import { sendBatch } from "../../src/batches/send.ts";
import { addUp, endingOf, type StatusSums } from "../../src/batches/status.ts";
import { Failure, type FailureKind, reasonNames, usage } from "../../src/domain/failure.ts";
import type { ReadPlan } from "../../src/ledger/batch.ts";
import { duplicatesSince } from "../../src/ledger/decide.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { OperationDeps } from "../../src/operations/deps.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
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
): Promise<Ran<StatusSums>> {
  const { allowDuplicates: again, concurrency, orders } = file;
  const references = orders.map(({ reference }) => reference);
  const tool = new Tool(universe, `batch ${file.name}`, { again, isBatch: true, references });
  const ended = await tool.run(
    (request, one) => network.exchange(request, one),
    async (deps) => {
      const ledger = await tool.ledger();
      const plan = await planOf(file, ledger, deps, () => network.question(tool));
      const { batch } = plan;
      const { uncertain } = addUp(batch, await ledger.batches.tally(batch));
      const pacing = { concurrency, perSecond: undefined };
      const hasUnknown = uncertain.count > 0;
      const sending = {
        ...pacing,
        plan,
        hasUnknown,
        ledger,
        onDeclared: () => {},
        onRow: () => {},
      };
      const reason = await sendBatch(sending, deps);
      const sums = addUp(batch, await ledger.batches.tally(batch));
      const kind = endingOf(sums, { stoppedBy: reason?.kind });
      if (kind) throw reason?.kind === kind ? reason : endedWith(kind);
      return sums;
    },
  );
  return { tool, ended, startedMs: tool.startedMs };
}

/** What `payout batch send` does before its first row, without the reading of the file. */
async function planOf(
  file: PaidFile,
  ledger: Ledger,
  deps: OperationDeps,
  confirm: () => Promise<void>,
): Promise<HeldPlan> {
  const { name, hash, allowDuplicates, orders } = file;
  const silent = { expect: () => {}, notice: () => {} };
  const choices = { allowDuplicates, method: undefined, ...silent, confirm };
  const ordering = { ledger, sealer: await deps.sealer() };
  const rows = orders.map(rowOf);
  const identity = identityOf(file);
  const [known] = (await ledger.batches.known({ identity })).batches;
  const compare = (plan: ReadPlan) => assertSameRows(plan, { name }, rows, ledger);
  if (known?.plan) return resumeBatch(known, compare, choices, ordering);
  const checked = await checkedFile(file, ledger, deps);
  const rejected = checked.findings.filter((one) => !(allowDuplicates && isAcceptable(one)));
  if (rejected.length > 0) throw usage(rejected.map(({ kind, line }) => `${kind} on line ${line}`));
  const source = { name, fileName: name, hash, identity, columns: ["ref"], method: null };
  return createBatch(source, checked, choices, ordering);
}

/** The identity of the batch of a file. */
export function identityOf({ orders }: Pick<PaidFile, "orders">): string {
  return identify(orders.map(rowOf), true, undefined) ?? "";
}

async function checkedFile(
  file: PaidFile,
  ledger: Ledger,
  deps: OperationDeps,
): Promise<CheckedFile> {
  const since = duplicatesSince(deps.now());
  const rows = file.orders.map(rowOf);
  const found = await findInLedger(rows, ledger, { since });
  const findings = [...findingsAmong(rows), ...found.findings];
  const columns = ["ref"];
  return {
    table: { delimiter: ",", hiddenColumns: [], hiddenRows: { count: 0, sumPaisa: 0n }, kept: [] },
    columns,
    rows,
    findings,
    identity: identityOf(file),
    since,
    ledger: found,
  };
}

function rowOf(order: PayoutOrder, index: number): FileRow {
  const { reference, amountPaisa, recipientNumber: recipient, paymentMethodId: methodId } = order;
  const [row, line] = [index + 1, index + 2];
  const paid = { row, line, reference, amountPaisa, recipient, methodId, method: methodId };
  return { ...paid, name: null, description: null, cells: [reference], wasSent: false };
}

/** A failure of a kind; the verdict reads nothing else. */
function endedWith(kind: FailureKind): Failure {
  const reason = reasonNames.find((name) => new Failure(name, "").kind === kind);
  if (reason === undefined) throw new Error(`no reason has the kind ${kind}`);
  return new Failure(reason, `ended ${kind}`);
}
