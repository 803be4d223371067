import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { examine } from "../../src/batch/examine.ts";
import { hashOf } from "../../src/batch/file.ts";
import { accepted, rejected } from "../../src/contract/reading.ts";
import type { Draft, DraftRow } from "../../src/ledger/drafts/draft.ts";
import type { Problem } from "../../src/ledger/drafts/problems.ts";
import { scratchFolder } from "../run.ts";
import { openTestDrafts } from "./draft.ts";

/** What the tool makes of a file, without the service. */
export interface Examined {
  draft: Draft;
  columns: string[];
  rows: DraftRow[];
  problems: Problem[];
}

const ids = new Map(
  ["bkash", "nagad", "rocket"].map((code, index) => [code, `665f1c2ab8e${4 + index}`]),
);

function methodOf(text: string) {
  const known = ids.get(text.trim().toLowerCase()) ?? [...ids.values()].find((id) => id === text);
  return known ? accepted(known) : rejected("There is no such method.");
}

function rulesWith(method: string | undefined) {
  const fingerprint = (order: object) => Object.values(order).join();
  const holdsSecret = (text: string) => text.includes("s3cret");
  const isRecorded = () => true;
  return {
    numberFormat: "local",
    method,
    methodOf,
    fingerprint,
    holdsSecret,
    isRecorded,
  } as const;
}

const clock = { now: () => 0, isStopping: () => false, isOutOfTime: () => false };

/** Examines one content after the other, each as a real file; `method` is that of all rows. */
export async function examiner({ method }: { method?: string } = {}) {
  const openDraft = await openTestDrafts();
  const path = join(scratchFolder(), "payroll.csv");
  return async (content: string | Uint8Array, delimiter: string): Promise<Examined> => {
    writeFileSync(path, content);
    const draft = openDraft();
    const rows: DraftRow[] = [];
    const add = (row: DraftRow) => {
      rows.push(row);
      draft.add(row);
    };
    const source = { path, hash: createHash("sha256").update(content).digest("hex"), delimiter };
    const columns = await examine(source, { ...draft, add }, rulesWith(method), clock);
    const problems = draft.problems(["cell", "repeated", "taken"], 1_000);
    return { draft, columns, rows, problems };
  };
}

/** Examines a file; `onRow` hears how many rows there are so far. */
export async function examined(
  path: string,
  delimiter: string,
  onRow: (count: number) => void,
  isStopping = clock.isStopping,
): Promise<Draft> {
  const draft = (await openTestDrafts())();
  let count = 0;
  const add = (row: DraftRow) => {
    draft.add(row);
    count += 1;
    onRow(count);
  };
  await examine(
    { path, hash: await hashOf(path), delimiter },
    { ...draft, add },
    rulesWith(undefined),
    { ...clock, isStopping },
  );
  return draft;
}
