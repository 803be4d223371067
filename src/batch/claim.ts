import { formatTime } from "../contract/local-time.ts";
import { Failure, usage } from "../failure.ts";
import type { Batch, BatchFile } from "../ledger/batches/batch.ts";
import type { Draft } from "../ledger/drafts/draft.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Again } from "../ledger/others.ts";
import { held } from "../operations/recorded.ts";
import { holdsReferences } from "./columns.ts";
import { isMore } from "./elsewhere.ts";

const differencesShown = 20;

/**
 * Takes the batch of a file for this process. The lock dies with the process (P4).
 *
 * @throws Failure `locked` when another process works on it, `conflict` when the name belongs to
 * another file, with the rows that differ
 */
export function claimBatch(file: BatchFile, draft: Draft | undefined, ledger: Ledger): Batch {
  const claim = ledger.batches().claim(file);
  if (claim.kind === "ours") return claim.batch;
  if (claim.kind === "held") throw held(`Batch ${claim.batch.id}`, claim.by);
  throw otherFile(file, claim.batch, draft);
}

/**
 * The batch that a file of its name was planned as. One that was only saved anew (a spreadsheet writes
 * other line ends) is that batch; a changed one is no new batch by itself.
 *
 * @throws Failure `conflict` with the rows that differ
 */
export function plannedBefore(file: BatchFile, draft: Draft, ledger: Ledger): Batch | undefined {
  const before = ledger.batches().named(file.name);
  if (!before || before.fileHash === file.hash) return undefined;
  if (differencesTo(before, file, draft).length > 0) throw otherFile(file, before, draft);
  return before;
}

/**
 * Makes the draft the plan of a batch.
 *
 * @param shown what others pay too, as far as it was confirmed
 * @throws Failure `conflict` when another file of the name was planned meanwhile; `usage` when others
 * have paid more of its rows since it was looked at, or are about to
 */
export function planBatch(batch: Batch, draft: Draft, ledger: Ledger, shown: Again): Batch {
  const planned = ledger.batches().plan(batch, draft.totals(), () => {
    if (isMore(draft.lookAgain(), shown)) throw paidMeanwhile(draft);
  });
  if (planned) return planned;
  throw otherFile(batch, ledger.batches().named(batch.name) ?? batch, draft);
}

function paidMeanwhile(draft: Draft): Failure {
  const problems = draft
    .problems(["again"], differencesShown)
    .map(({ line, problem }) => `line ${line}: ${problem}`);
  const left = draft.problemCount(["again"]) - problems.length;
  return new Failure(
    "usage",
    "Since this file was looked at, some of its rows were paid otherwise.",
    {
      problems: left > 0 ? [...problems, `and ${left} more`] : problems,
      hint: "Nothing was sent. Run the same command again: it shows them before it asks; only if they are meant, add --allow-duplicates.",
    },
  );
}

function differencesTo(before: Batch, { columns }: Pick<BatchFile, "columns">, draft: Draft) {
  const references = holdsReferences(columns) || holdsReferences(before.columns);
  return draft.differencesTo({ batch: before.number, references, limit: differencesShown });
}

function otherFile(
  file: Pick<BatchFile, "name" | "columns">,
  before: Batch,
  draft: Draft | undefined,
) {
  const { name } = file;
  const { id, createdAt, ...batch } = before;
  const allAnew = holdsReferences(file.columns)
    ? ""
    : " (it has no column ref: then all its rows are paid anew, also those that did not change)";
  const own = batch.name === name ? "" : `, ${batch.name}`;
  return new Failure(
    "conflict",
    `Another file of the name ${name} was planned on ${formatTime(createdAt)}, as batch ${id}${own}.`,
    {
      problems: draft ? differencesTo(before, file, draft) : [],
      hint: `Nothing was sent. If this is a new batch, give it a name of its own with --name${allAnew}; to go on with ${id}, use the file as it was, and to mend rows that were refused, what 'lenden payout batch export ${id} --only failed' writes.`,
      operation: id,
    },
  );
}

/**
 * Takes a batch that was planned before; from then on the plan alone counts.
 *
 * @param method what this run was told, which must be what the plan was made with
 * @throws Failure as `claimBatch` does; `usage` when this run was told another method; `internal` when the
 * plan was altered
 */
export function resumeBatch(planned: Batch, method: string | undefined, ledger: Ledger): Batch {
  if (method !== undefined && method.toLowerCase() !== planned.method?.toLowerCase()) {
    throw usage([
      `--method: this file was planned with ${planned.method ?? "a method in every row"}, and that is what counts.`,
    ]);
  }
  const batch = claimBatch({ ...planned, hash: planned.fileHash }, undefined, ledger);
  if (ledger.batches().isUnaltered(batch)) return batch;
  ledger.batches().letGo(batch);
  throw new Failure("internal", `The plan of batch ${planned.id} was altered since it was made.`, {
    hint: "Nothing was sent. 'lenden ledger check' shows what does not fit.",
  });
}
