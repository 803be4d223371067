import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { Changed } from "../../src/ledger/changes.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import { openWriter } from "../../src/program/writer/writer.ts";
import { openDatabase } from "../../src/sqlite/open.ts";
import { owner, payout, worker } from "../ledger/small-ledger.ts";
import { scratchFolder } from "../run.ts";

const unknown = {
  kind: "settle",
  number: 999n,
  outcome: { state: "CONFIRMED", sent: true },
  letGo: true,
} as const;

test("claims come back as the ledger keeps them, new or found, in the order they were asked", async () => {
  const { commit, close, read } = thread();
  const claims = ["A", "B"].map((name) => ({ kind: "claim", intent: payout(name) }) as const);
  const [first, second] = await Promise.all([commit(claims), commit([...claims].reverse())]);
  await close();
  const kept = await read((ledger) => ["A", "B"].map((name) => ledger.find(name)));
  expect(first).toEqual(kept.map((operation) => ({ kind: "new", operation })));
  expect(second).toEqual(
    kept.map((operation) => ({ kind: "held", operation, by: operation?.holder })).reverse(),
  );
});

test("what is settled has no answer, and changes nothing in the order of the claims", async () => {
  const { commit, close, read } = thread();
  const [claimed] = await commit([{ kind: "claim", intent: payout("A") }]);
  if (claimed?.kind !== "new") throw new Error("a claim has an answer");
  const { number } = claimed.operation;
  const changed = await commit([
    { kind: "claim", intent: payout("B") },
    { ...unknown, number, outcome: { state: "CONFIRMED", sent: true, remoteId: "PO1" } },
    { kind: "claim", intent: payout("C") },
  ]);
  await close();
  expect(changed.map(referenceIn)).toEqual(["B", undefined, "C"]);
  expect(await read((ledger) => ledger.find("A"))).toMatchObject({ remoteId: "PO1" });
});

test("I10: one of two payouts that are settled in one commit gets the id, and the other stays UNCERTAIN", async () => {
  const { commit, close, read } = thread();
  const claims = await commit(
    ["A", "B", "C"].map((name) => ({ kind: "claim", intent: payout(name) })),
  );
  const settled = claims.map((claim, index) => {
    if (claim?.kind !== "new") throw new Error("a claim has an answer");
    const remoteId = index === 2 ? "PO2" : "PO1";
    const { number } = claim.operation;
    return { ...unknown, number, outcome: { state: "CONFIRMED", sent: true, remoteId } as const };
  });
  const [, taken, free] = await commit(settled);
  const later = await commit([
    { ...unknown, number: 2n, outcome: { state: "CONFIRMED", remoteId: "PO2" } },
  ]);
  await close();
  const [first, second] = await read((ledger) => ["A", "B"].map((name) => ledger.find(name)));
  expect(first).toMatchObject({ state: "CONFIRMED", remoteId: "PO1" });
  expect(second).toMatchObject({ state: "UNCERTAIN", remoteId: null });
  expect([taken, free]).toEqual([{ kind: "taken", by: first?.id }, undefined]);
  expect(later).toEqual([{ kind: "taken", by: expect.any(String) }]);
});

test("I4: a group that was handed over behind one that fails never reaches the disk", async () => {
  const { commit, close, read } = thread();
  const groups = [commit([unknown]), commit([{ kind: "claim", intent: payout("A") }])];
  const ends = await Promise.allSettled(groups);
  await expect(commit([{ kind: "claim", intent: payout("B") }])).rejects.toThrow(
    "The ledger could not be written",
  );
  await close();
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await read((ledger) => ledger.list("payout", { limit: 10 }))).toEqual([]);
});

test("an installation without the thread's program is what is named, not the disk", async () => {
  const { commit } = thread("dist/nothing-here.cjs");
  await expect(commit([unknown])).rejects.toMatchObject({
    message: "The part of lenden that writes the ledger broke down (MODULE_NOT_FOUND).",
    details: { hint: "Install lenden again, then run the same command again." },
  });
});

/** The built thread, and what it left in its ledger. */
function referenceIn(changed: Changed): string | null | undefined {
  return changed?.kind === "taken" ? undefined : changed?.operation.reference;
}

function thread(file = "dist/ledger-writer.cjs") {
  const folder = scratchFolder();
  const path = join(folder, "ledger.db");
  mkdirSync(join(folder, "processes"));
  writeFileSync(join(folder, "processes", "TEST"), "");
  const program = { program: resolve(file), isText: false };
  const start = { path, owner, command: "test", secrets: [], lock: "TEST" };
  const { commit, close } = openWriter(program, start, (text) => text);
  const read = async <Read>(look: (ledger: ReturnType<typeof openLedger>) => Read) => {
    const database = await openDatabase(path);
    try {
      return look(openLedger(database, worker()));
    } finally {
      database.close();
    }
  };
  return { commit, close, read };
}
