import { expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Intent, Operation, Outcome } from "../../src/ledger/operation.ts";
import { claim, claimed, payment, payout, record, refund, sealer } from "./small-ledger.ts";
import { databases, describeEach, type SharedDatabase } from "./stores.ts";

const modified = { reason: "ledger.modified", message: expect.stringContaining("was modified") };
const long = "'2020-01-01T00:00:00.000Z'";

/** What a login with lenden's rights may write into a row: alone, and so that the row looks as if nothing was sent. */
const edits = [
  "state = 'NOT_SENT', phase = 'free', code = 'unreachable', accepted_at = NULL, status = NULL",
  "state = 'REFUSED', phase = 'retired', code = 'rejected', accepted_at = NULL, status = NULL",
  "state = 'REFUSED', phase = 'free', code = 'access', accepted_at = NULL, status = NULL",
  "status = 'Cancelled', phase = 'retired'",
  `accepted_at = ${long}, completed_at = ${long}, updated_at = ${long}`,
  ...["state = 'UNCERTAIN'", "phase = 'retired'"],
  ...["status = 'Failed'", "code = 'access'", "remote_id = 'X9'", "attempts = 0", "message = 'm'"],
  ...[`updated_at = ${long}`, `accepted_at = ${long}`, "accepted_at = NULL", "completed_at = NULL"],
  ...["key_hash = 'other'", `reopened_at = ${long}`, `resumed_at = ${long}`, "payment_url = 'u'"],
];

const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };
const tea: Intent = {
  ...payment("tea"),
  asked: { ...payment("tea").asked, suggestedPayerNumber: "01712345678" },
};
const completed: Outcome = { state: "CONFIRMED", remoteId: "X1", status: "Completed", sent: true };

/** What was accepted, and what would pay it again. */
const cases: [name: string, first: Intent, again: Intent][] = [
  ["a payout", payout("A", { asked }), payout("A", { asked })],
  ["a payout under another reference", payout("A", { asked }), payout("B", { asked })],
  ["a refund", refund("T"), refund("T")],
  ["a payment", tea, tea],
];

const cancel: Intent = { ...refund("T"), kind: "cancel", amountPaisa: null };

/** What another login inserts after it, each with another reference if it has one. */
const floods: [name: string, first: Intent, again: (reference: string) => Intent][] = [
  [
    "60 newer ones of other logins do not hide a payout",
    payout("A", { asked }),
    (reference) => payout(reference, { asked }),
  ],
  ["60 newer ones of other logins do not hide a refund", refund("T"), () => refund("T")],
  ["60 newer ones of other logins do not hide a payment", tea, () => tea],
  ["60 newer ones of other logins do not hide a cancel", cancel, () => cancel],
];

async function operations(shared: SharedDatabase): Promise<unknown[]> {
  return shared.run("SELECT number FROM operations");
}

async function accepted(ledger: Ledger, intent: Intent): Promise<Operation> {
  const operation = await claimed(ledger, intent);
  await record(ledger, operation, completed);
  return operation;
}

/** What decides about a payout although 50 equal ones are newer, and what a claim of that payout is answered. */
const older: [name: string, reference: string, Outcome, answer: object][] = [
  ["of unknown outcome", "A", { state: "UNCERTAIN", sent: true }, { kind: "duplicate" }],
  ["accepted", "A", completed, { kind: "duplicate", earlier: { reference: "A" } }],
  ["not sent", "A", { state: "NOT_SENT", sent: false }, { kind: "resumed", isReopened: true }],
  [
    ...(["rejected, with a generated reference", "LD-01KASW0000000000000000000Z"] as const),
    ...([
      { state: "REFUSED", sent: true },
      { kind: "resumed", isReopened: true },
    ] as const),
  ],
  ["cancelled", "A", { ...completed, status: "Cancelled" }, { kind: "new" }],
];

describeEach(databases, "a claim of a payout", ({ share }) => {
  for (const [name, reference, outcome, answer] of older)
    test(`finds one that is ${name}, although 50 equal ones are newer`, async () => {
      const ledger = await (await share()).open();
      const first = await claimed(ledger, payout(reference, { asked }));
      await record(ledger, first, outcome);
      for (let index = 0; index < 50; index += 1) {
        const newer = await claimed(ledger, payout(`NEWER-${index}`, { asked }));
        await record(ledger, newer, { state: "REFUSED", code: "rejected", sent: true });
      }
      const intent = payout("B", { asked });
      const request = { intent, onDuplicate: "reject", isReferenceMade: true, sealer } as const;
      expect(await ledger.preview(request)).toMatchObject(answer);
      if (name === "cancelled")
        expect(await ledger.claim(request)).toMatchObject({ operation: { target: first.id } });
    });
});

describeEach(databases, "I12: beside an edited row", ({ share }) => {
  for (const [name, first, again] of cases)
    test(`${name} is not claimed again, whatever was edited`, async () => {
      const shared = await share();
      const ledger = await shared.open();
      const { number } = await accepted(ledger, first);
      const before = await claim(ledger, again);
      await shared.run("CREATE TABLE kept AS SELECT * FROM operations");
      const columns =
        "state, phase, status, code, message, attempts, remote_id, accepted_at, completed_at";
      const rest = "updated_at, key_hash, reopened_at, resumed_at, payment_url";
      const restored = `${columns}, ${rest}`
        .split(", ")
        .map((one) => `${one} = (SELECT ${one} FROM kept WHERE number = ${number})`);
      for (const edit of edits) {
        await shared.run(`UPDATE operations SET ${edit} WHERE number = ${number}`);
        await expect(claim(ledger, again), edit).rejects.toMatchObject(modified);
        await shared.run(`UPDATE operations SET ${restored} WHERE number = ${number}`);
      }
      await shared.run("DROP TABLE kept");
      expect(await operations(shared)).toHaveLength(1);
      // Nothing else than the edits stops it.
      expect((await claim(ledger, again)).kind).toBe(before.kind);
    });

  test("49 newer operations that are equal do not hide it", async () => {
    const shared = await share();
    const ledger = await shared.open();
    const { number } = await accepted(ledger, payout("A", { asked }));
    for (let index = 0; index < 49; index += 1) {
      const newer = await claimed(ledger, payout(`NEWER-${index}`, { asked }));
      await record(ledger, newer, { state: "REFUSED", code: "rejected", sent: true });
    }
    await shared.run(`UPDATE operations SET ${edits[1]} WHERE number = ${number}`);
    await expect(claim(ledger, payout("B", { asked }))).rejects.toMatchObject(modified);
  });

  test.each(floods)("%s", async (_, first, again) => {
    const shared = await share();
    const ledger = await shared.open();
    const { number } = await accepted(ledger, first);
    for (let index = 0; index < 60; index += 1) {
      const newer = await claimed(ledger, again(`NEWER-${index}`));
      await record(ledger, newer, { state: "REFUSED", code: "rejected", sent: true });
    }
    const claimOfNext = () => claim(ledger, again("B"), 1_000_000n);
    const login = "CASE WHEN number % 2 = 0 THEN 'bob' ELSE 'zoe' END";
    await shared.run(`UPDATE operations SET login = ${login} WHERE number <> ${number}`);
    await claimOfNext();
    await shared.run(`UPDATE operations SET ${edits[1]} WHERE number = ${number}`);
    await expect(claimOfNext()).rejects.toMatchObject(modified);
  });

  test("its outcome is neither learned nor recorded, and nothing is resumed", async () => {
    const shared = await share();
    const ledger = await shared.open();
    const one = await claimed(ledger, payout("A", { asked }));
    await record(ledger, one, { state: "UNCERTAIN", code: "uncertain", sent: true });
    const seen = await ledger.find("A");
    if (!seen) throw new Error("the ledger lost an operation");
    await shared.run(`UPDATE operations SET attempts = 0 WHERE number = ${one.number}`);
    await expect(ledger.learn({ seen, outcome: completed })).rejects.toMatchObject(modified);
    await expect(record(ledger, one, completed)).rejects.toMatchObject(modified);
    await expect(claim(ledger, payout("A", { asked }))).rejects.toMatchObject(modified);
    expect(await shared.run("SELECT state FROM operations")).toMatchObject([
      { state: "UNCERTAIN" },
    ]);
  });

  test("what a claim recorded in the same change is no edit", async () => {
    const ledger = await (await share()).open();
    const one = await claimed(ledger, payout("A", { asked }));
    const claims = ["A", "B"].map((reference) => payout(reference, { asked }));
    const answers = await ledger.change([
      { kind: "record", operation: one.number, outcome: completed, release: true },
      ...claims.map((intent) => ({ kind: "claim", intent, onDuplicate: "reject" }) as const),
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual(["recorded", "finished", "duplicate"]);
  });
});
