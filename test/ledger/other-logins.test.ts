import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { newReference } from "../../src/domain/new-reference.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Intent, Operation, Outcome } from "../../src/ledger/operation.ts";
import { createSealer, type Sealer } from "../../src/ledger/seal.ts";
import {
  batchFile,
  claimed,
  payment,
  payout,
  plannedRow,
  planning,
  record,
  refund,
  sealer,
} from "./small-ledger.ts";
import { databases, describeEach, type SharedDatabase } from "./stores.ts";
import { withBob } from "./with-bob.ts";

const unknown: Outcome = { state: "UNCERTAIN", code: "uncertain", sent: true };
const accepted: Outcome = { state: "CONFIRMED", remoteId: "X1", status: "Completed", sent: true };
const unreachable: Outcome = { state: "NOT_SENT", code: "unreachable", sent: false };
const cancelled: Outcome = { state: "CONFIRMED", status: "Cancelled" };
const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };
const notCreated: Outcome = { state: "NOT_SENT", code: "declared", isReported: true };

async function found(ledger: Ledger, { id }: Pick<Operation, "id">): Promise<Operation> {
  const operation = await ledger.find(id);
  if (!operation) throw new Error("the ledger lost an operation");
  return operation;
}

async function learn(ledger: Ledger, operation: Operation, outcome: Outcome): Promise<void> {
  const seen = await found(ledger, operation);
  expect(await ledger.learn({ seen, outcome })).toEqual({ kind: "recorded" });
}

/** A payout of unknown outcome that a day later is declared not created, and reopened. */
async function reopened(by: "bob" | "its person", shared: SharedDatabase, withKey?: "next") {
  const own = await withBob(shared);
  const first = await claimed(own.ledger, payout("A"));
  await record(own.ledger, first, unknown);
  own.pass(26);
  const reopen = async () => {
    await learn(own.ledger, first, notCreated);
    const ledger = withKey ? own.withNextKey : own.ledger;
    await record(ledger, await claimed(ledger, payout("A")), unknown);
  };
  await (by === "bob" ? own.asBob(reopen) : reopen());
  return { ...own, first, seen: await found(own.ledger, first) };
}

describeEach(databases, "a payout that another login reopens", ({ share }) => {
  test("P25: is as old as its intent for a run without an order", async () => {
    const { ledger, first, seen } = await reopened("bob", await share());
    expect(seen.openedAt > first.createdAt).toBe(true);
    expect(await ledger.resume({ seen, sealer })).toMatchObject({
      ...{ kind: "taken", operation: { openedAt: first.createdAt } },
    });
  });

  test("P25: is as old as its intent for whoever orders it again", async () => {
    const { ledger, first } = await reopened("bob", await share());
    expect(await claimed(ledger, payout("A"))).toMatchObject({ openedAt: first.createdAt });
  });

  test("P25: is as young as its own person reopened it", async () => {
    const { ledger, seen } = await reopened("its person", await share());
    expect(await ledger.resume({ seen, sealer })).toMatchObject({
      ...{ kind: "taken", operation: { openedAt: seen.openedAt } },
    });
  });

  test("P25b: belongs to the key of neither", async () => {
    const { ledger, withNextKey, seen } = await reopened("bob", await share(), "next");
    for (const one of [ledger, withNextKey]) {
      expect(await one.resume({ seen, sealer })).toMatchObject({ kind: "other-key" });
      const intent = payout("A");
      expect(await one.preview({ intent, onDuplicate: "reject" })).toMatchObject({
        kind: "other-key",
      });
    }
  });

  test("P25b: belongs to the key with which its own person reopened it", async () => {
    const { withNextKey, seen } = await reopened("its person", await share(), "next");
    expect(await withNextKey.resume({ seen, sealer })).toMatchObject({ kind: "taken" });
  });
});

describeEach(
  databases,
  "a payout that two logins sent, and a third one opens again",
  ({ share }) => {
    test("P25b: belongs to no key if the two had different ones", async () => {
      const { ledger, withNextKey, as } = await withBob(await share());
      const sent = await claimed(ledger, payout("A"));
      await record(ledger, sent, unreachable);
      await as("bob", async () =>
        record(withNextKey, await claimed(withNextKey, payout("A")), unknown),
      );
      await as("mallory", async () => {
        await learn(ledger, sent, notCreated);
        await record(ledger, await claimed(ledger, payout("A")), unknown);
      });

      const seen = await found(ledger, sent);

      for (const one of [ledger, withNextKey])
        expect(await one.resume({ seen, sealer })).toMatchObject({ kind: "other-key" });
    });

    test("P25: is as old as the first request, also for whoever sent it again since", async () => {
      const { ledger, as, pass } = await withBob(await share());
      const sent = await claimed(ledger, payout("A"));
      await record(ledger, sent, unreachable);
      await as("bob", async () => record(ledger, await claimed(ledger, payout("A")), unknown));
      pass(1);
      await as("mallory", () => learn(ledger, sent, notCreated));
      pass(20);
      await record(ledger, await claimed(ledger, payout("A")), unknown);

      const seen = await found(ledger, sent);

      expect(seen.openedAt > sent.createdAt).toBe(true);
      expect(await ledger.resume({ seen, sealer })).toMatchObject({
        ...{ kind: "taken", operation: { openedAt: sent.createdAt } },
      });
    });

    test("P25: is as old as another login sent it, if its own time is later", async () => {
      const { ledger, as, pass } = await withBob(await share());
      const planted = await as("mallory", async () => {
        pass(23);
        const operation = await claimed(ledger, payout("A"));
        await record(ledger, operation, unreachable);
        pass(-23);
        return operation;
      });
      const bobs = await as("bob", async () => {
        const operation = await claimed(ledger, payout("A"));
        await record(ledger, operation, unknown);
        return operation;
      });

      const seen = await found(ledger, planted);

      expect(bobs.openedAt < planted.createdAt).toBe(true);
      expect(await ledger.resume({ seen, sealer })).toMatchObject({
        ...{ kind: "taken", operation: { openedAt: bobs.openedAt } },
      });
    });
  },
);

describeEach(
  databases,
  "a payout that a writer gives back to a process that lost it",
  ({ share }) => {
    test("stays unknown, whatever that process records", async () => {
      const shared = await share();
      const [lost, taker] = [
        await shared.open({ holder: { pid: 1, lock: "1", machine: "m" } }),
        await shared.open({ holder: { pid: 2, lock: "2", machine: "m" } }),
      ];
      const sent = await claimed(lost, payout("A"));
      const [before] = await shared.run("SELECT process, held_since FROM operations");
      await shared.run("UPDATE operations SET process = NULL, held_since = NULL");
      const seen = await found(taker, sent);
      expect(await taker.resume({ seen, sealer })).toMatchObject({ kind: "taken" });
      const { process, held_since } = Object(before);
      await shared.run(
        `UPDATE operations SET process = '${process}', held_since = '${held_since}'`,
      );

      const ends = [await record(taker, sent, accepted), await record(lost, sent, unreachable)];

      expect(ends).toMatchObject([{ kind: "moved" }, { kind: "moved" }]);
      expect((await found(lost, sent)).state).not.toBe("NOT_SENT");
    });
  },
);

describeEach(databases, "a resumed payout", ({ share }) => {
  test("is not sent if its request is not the one that was confirmed", async () => {
    const { ledger } = await withBob(await share());
    const first = await claimed(ledger, payout("A"));
    await record(ledger, first, unknown);
    const seen = await found(ledger, first);
    const confirmed = { ...first.asked, recipientName: "Bob" };
    expect(await ledger.resume({ seen, confirmed, sealer })).toMatchObject({ kind: "moved" });
    expect(await ledger.resume({ seen, confirmed: first.asked, sealer })).toMatchObject({
      kind: "taken",
    });
  });
});

describeEach(databases, "a rejected payout with a generated reference", ({ share }) => {
  test("gives its reference to the next attempt, beside a newer one of another login", async () => {
    const shared = await share();
    const { ledger, asBob } = await withBob(shared);
    const rejected: Outcome = { state: "REFUSED", code: "rejected", sent: true };
    const [own, theirs, next] = ["X", "Y", "Z"].map(
      (last) => `LD-01KASW000000000000000000${last}Z`,
    );
    const first = await claimed(ledger, payout(String(own), { asked }));
    await record(ledger, first, rejected);
    const { number } = await asBob(async () => {
      const planted = await claimed(ledger, payout(String(theirs), { asked }));
      await record(ledger, planted, rejected);
      return planted;
    });
    await shared.run(`UPDATE operations SET login = 'bob' WHERE number = ${number}`);

    const intent = payout(String(next), { asked });
    const answer = await ledger.claim({
      ...{ intent, onDuplicate: "reject", isReferenceMade: true, sealer },
    });

    expect(answer).toMatchObject({ kind: "resumed", operation: { id: first.id } });
  });
});

const rejected: Outcome = { state: "REFUSED", code: "refused", sent: true };
const denied: Outcome = { state: "REFUSED", code: "access", sent: true };
const to = (reference: string, more: object = {}) =>
  payout(reference, { asked: { ...payout(reference).asked, ...asked, ...more } });

describeEach(databases, "a rejected payout that another login sends again", ({ share }) => {
  const generated = (last: string) => `LD-01KASW000000000000000000${last}Z`;
  const next = (reference: string) =>
    ({
      ...({ intent: to(reference), onDuplicate: "reject" } as const),
      ...{ isReferenceMade: true, sealer },
    }) as const;

  test("gives its reference to the next one, whatever time the other login writes", async () => {
    const shared = await share();
    const { ledger, asBob } = await withBob(shared);
    const first = await claimed(ledger, to(generated("X")));
    await record(ledger, first, rejected);
    await asBob(async () => record(ledger, await claimed(ledger, to(generated("X"))), rejected));
    const old = "'2026-11-18T18:00:00.000Z'";
    await shared.run(`UPDATE events SET at = ${old} WHERE login = 'bob' AND event = 'attempt'`);
    await shared.run(`UPDATE operations SET updated_at = ${old} WHERE number = ${first.number}`);
    const answer = await ledger.preview(next(generated("Y")));
    expect(answer).toMatchObject({ kind: "resumed", operation: { id: first.id } });
  });

  /** Access was denied to the payout; then bob's attempt retires its reference. */
  async function retired(shared: SharedDatabase) {
    const given = await withBob(shared);
    const { ledger, asBob } = given;
    const first = await claimed(ledger, to("S-1"));
    await record(ledger, first, denied);
    await asBob(async () => record(ledger, await claimed(ledger, to("S-1")), rejected));
    return { ledger, declared: { id: first.id, others: { login: "bob" } } };
  }

  test("is told before the same is sent with another reference", async () => {
    const { ledger, declared } = await retired(await share());
    expect(await ledger.claim(next(generated("Y")))).toMatchObject({ kind: "new", declared });
  });

  test("is told before its row is sent with a new reference", async () => {
    const { ledger, declared } = await retired(await share());
    const intent = to("S-1-lenden2", { recipientNumber: "01799999999" });
    const answer = await ledger.claim({ intent, onDuplicate: "reject", sealer });
    expect(answer).toMatchObject({ kind: "new", declared });
  });
});

describeEach(databases, "an unsettled payout that this person did not order", ({ share }) => {
  test("is sent only if it repeats nothing", async () => {
    const { ledger } = await withBob(await share());
    const first = await claimed(ledger, to("LOST-1"));
    await record(ledger, first, unknown);
    const ofBob = createSealer("a secret of bob", { environment: "sandbox", name: "shop" });
    const request = { intent: to("LOST-2"), onDuplicate: "send", sealer: ofBob } as const;
    const planted = await ledger.claim(request);
    if (planted.kind !== "new") throw new Error("the payout was planted before");
    await record(ledger, planted.operation, unknown);

    const order = { intent: to("LOST-2"), sealer } as const;
    const answer = await ledger.claim({ ...order, onDuplicate: "reject-if-unknown" });

    expect(answer).toMatchObject({ kind: "duplicate", earlier: { id: first.id } });
    expect(await ledger.claim({ ...order, onDuplicate: "send" })).toMatchObject({
      ...{ kind: "resumed", earlier: { id: first.id } },
    });
  });

  test("is sent only if it repeats nothing, after another login reopened it", async () => {
    const { ledger, asBob } = await withBob(await share());
    await record(ledger, await claimed(ledger, to("X-1")), denied);
    const second = await claimed(ledger, to("X-2"));
    await record(ledger, second, unknown);
    await asBob(async () => record(ledger, await claimed(ledger, to("X-1")), unknown));

    const order = { intent: to("X-1"), onDuplicate: "reject-if-unknown", sealer } as const;

    expect(await ledger.claim(order)).toMatchObject({ earlier: { id: second.id } });
  });
});

describeEach(databases, "a payout that others opened again", ({ share }) => {
  test.each(["earlier", "declared"] as const)(
    "is resumed with a warning about the same that was accepted: %s",
    async (what) => {
      const { ledger, as, asBob } = await withBob(await share());
      const first = await claimed(ledger, to("X-1"));
      await record(ledger, first, unknown);
      await as("alice", () => learn(ledger, first, notCreated));
      const second = await claimed(ledger, to("X-2"));
      await record(ledger, second, accepted);
      await asBob(async () => record(ledger, await claimed(ledger, to("X-1")), unknown));
      if (what === "declared") await asBob(() => learn(ledger, second, cancelled));

      const resumed = await ledger.resume({ seen: await found(ledger, first), sealer });

      expect(resumed).toMatchObject({ kind: "taken", [what]: { id: second.id } });
    },
  );
});

describeEach(databases, "a payout whose reference replaces another one", ({ share }) => {
  const again = (onDuplicate: "reject" | "send", reference = "S-1-lenden2") =>
    ({
      ...{ intent: to(reference, { recipientNumber: "01799999999" }) },
      ...{ onDuplicate, sealer },
    }) as const;

  test.each(["S-1-lenden2", "S-1-lenden3"])(
    "is not sent if that one was: %s",
    async (reference) => {
      const { ledger } = await withBob(await share());
      const first = await claimed(ledger, to("S-1"));
      await record(ledger, first, accepted);
      const earlier = { id: first.id };
      expect(await ledger.claim(again("reject", reference))).toMatchObject({
        ...{ kind: "duplicate", earlier },
      });
      const sent = await ledger.claim(again("send", reference));
      expect(sent).toMatchObject({ kind: "new", earlier });
    },
  );

  test.each<[string, Outcome]>([
    ["not created", notCreated],
    ["Cancelled", { ...cancelled, remoteId: "X1" }],
  ])("is told if another login recorded that one as %s", async (_, outcome) => {
    const { ledger, asBob } = await withBob(await share());
    const first = await claimed(ledger, to("S-1"));
    await record(ledger, first, unknown);
    await asBob(() => learn(ledger, first, outcome));
    const answer = await ledger.claim(again("reject"));
    expect(answer).toMatchObject({ kind: "new", declared: { id: first.id } });
  });
});

describeEach(databases, "a payout that another login recorded, sent by this one", ({ share }) => {
  const order = payout("A", { asked: { ...payout("A").asked, ...asked } });

  /** Bob's payout was not sent, so this login sends it. */
  async function takenOver(own: Outcome, shared: SharedDatabase) {
    const given = await withBob(shared);
    const { ledger, asBob } = given;
    const first = await asBob(async () => {
      const planted = await claimed(ledger, order);
      await record(ledger, planted, { state: "NOT_SENT", code: "unreachable", sent: false });
      return planted;
    });
    await shared.run(`UPDATE operations SET login = 'bob' WHERE number = ${first.number}`);
    const sent = await claimed(ledger, order);
    await record(ledger, sent, own);
    return { ...given, sent };
  }

  test("is told when the other login records it as Cancelled", async () => {
    const { ledger, asBob, sent } = await takenOver(accepted, await share());
    await asBob(() => learn(ledger, sent, cancelled));
    const again = { intent: payout("B", { asked }), onDuplicate: "reject", sealer } as const;
    expect(await ledger.claim(again)).toMatchObject({ declared: { others: { login: "bob" } } });
  });

  test("P25: is as old as this login sent it, whoever reopens it", async () => {
    const { ledger, asBob, pass, sent } = await takenOver(unknown, await share());
    const { openedAt } = await found(ledger, sent);
    pass(26);
    await asBob(async () => {
      await learn(ledger, sent, notCreated);
      await record(ledger, await claimed(ledger, order), unknown);
    });
    const seen = await found(ledger, sent);
    const resumed = await ledger.resume({ seen, sealer });
    expect(resumed).toMatchObject({ kind: "taken", operation: { openedAt } });
  });
});

describeEach(databases, "a payout with the sealed request of another one", ({ share }) => {
  const recipientNumber = "01712345678";
  const order = payout("A", { asked: { ...payout("A").asked, recipientNumber } });

  /** What a colleague plants: the request and the seal are those of another order. */
  const plants: [of: string, asked: object][] = [
    ["reference", { merchantRef: "OLD" }],
    ["amount", { amount: 700 }],
  ];

  test.each(plants)("of another %s is not resumed", async (_, other) => {
    const { ledger, asBob } = await withBob(await share());
    const planted = await asBob(() =>
      claimed(ledger, { ...order, asked: { ...order.asked, ...other } }),
    );
    await asBob(() => record(ledger, planted, unknown));
    const seen = await found(ledger, planted);
    expect(await ledger.resume({ seen, sealer })).toMatchObject({ kind: "not-sealed" });
    const ordered = { intent: order, onDuplicate: "send", sealer } as const;
    expect(await ledger.claim(ordered)).toMatchObject({ kind: "not-sealed" });
  });

  const states = { unknown, denied } as const;

  test.each(["unknown", "denied"] as const)(
    "that is %s is sent again with the payout secret that sealed it alone",
    async (state) => {
      const { ledger, asBob } = await withBob(await share());
      const own = createSealer("an earlier payout secret", {
        environment: "sandbox",
        name: "shop",
      });
      const claim = (by: Sealer) =>
        ledger.claim({ intent: order, onDuplicate: "reject-if-unknown", sealer: by });
      await asBob(async () => {
        const answer = await claim(own);
        if (answer.kind === "new") await record(ledger, answer.operation, states[state]);
      });
      expect(await claim(sealer)).toMatchObject({ kind: "not-sealed" });
      expect(await claim(own)).toMatchObject({ kind: "resumed" });
    },
  );
});

describeEach(databases, "a payout that two other logins took in turn", ({ share }) => {
  test("is told when the one that did not send it records it as Cancelled", async () => {
    const shared = await share();
    const { ledger, as, asBob } = await withBob(shared);
    const order = payout("A", { asked: { ...payout("A").asked, ...asked } });
    const send = async (outcome: Outcome) => {
      const operation = await claimed(ledger, order);
      await record(ledger, operation, outcome);
      return operation;
    };
    const unsent: Outcome = { state: "NOT_SENT", code: "unreachable", sent: false };
    const { number } = await as("alice", () => send(unsent));
    await shared.run(`UPDATE operations SET login = 'alice' WHERE number = ${number}`);
    await asBob(() => send(unsent));
    const sent = await as("alice", () => send(accepted));
    await asBob(() => learn(ledger, sent, cancelled));

    const again = { intent: payout("B", { asked }), onDuplicate: "reject", sealer } as const;

    expect(await ledger.claim(again)).toMatchObject({ declared: { others: { login: "bob" } } });
  });
});

describeEach(databases, "an operation by its name", ({ share }) => {
  test("is the payout of this reference, whatever ID another login gave an operation", async () => {
    const shared = await share();
    const { ledger } = await withBob(shared);
    const own = await claimed(ledger, payout("A"));
    const { number } = await claimed(ledger, payout("B"));
    await shared.run(`UPDATE operations SET id = 'A' WHERE number = ${number}`);
    expect(await ledger.find("A")).toMatchObject({ id: own.id });
  });

  test("is not believed if it changed after it was read", async () => {
    const { ledger } = await withBob(await share());
    const read = await claimed(ledger, payout("A"));
    await record(ledger, read, unknown);
    await expect(ledger.assertRecorded([read])).rejects.toMatchObject({
      reason: "operation.locked",
    });
    await ledger.assertRecorded([await found(ledger, read)]);
  });
});

describeEach(databases, "a sealed row of a batch", ({ share }) => {
  test.each([
    ["before", "taken"],
    ["after", "not-sealed"],
    ["before, and ordered again after,", "taken"],
    ["before, and ordered again by others after,", "not-sealed"],
  ])("recorded %s its batch was cancelled", async (when, kind) => {
    const isBefore = when.startsWith("before");
    const isFree = when.includes("again");
    const { ledger, asBob } = await withBob(await share());
    const claim = await ledger.batches.claim(batchFile("june.csv"), whichBatch);
    if (claim.kind !== "ours") throw new Error("the batch is held");
    const { batch } = claim;
    await ledger.batches.plan(
      batch,
      planning(() => [plannedRow(1)]),
    );
    const recordRow = async () => {
      const intent = payout("R-1", { batch: batch.number });
      const request = { intent, onDuplicate: "send", sealer, batchId: batch.id } as const;
      const answer = await ledger.claim(request);
      if (answer.kind !== "new") throw new Error("the row was recorded before");
      await record(ledger, answer.operation, isFree ? unreachable : unknown);
      return answer.operation;
    };
    const before = isBefore ? await recordRow() : undefined;
    await ledger.batches.cancel(batch);
    const again = async () => record(ledger, await claimed(ledger, payout("R-1")), unknown);
    if (isFree) await (when.includes("others") ? asBob(again) : again());
    const seen = await found(ledger, before ?? (await recordRow()));

    const resumed = await ledger.resume({ seen, sealer });

    expect(resumed.kind).toBe(kind);
  });
});

const tea: Intent = {
  ...payment("tea"),
  asked: { ...payment("tea").asked, suggestedPayerNumber: "01712345678" },
};
const again = payout("B", { asked });

/** How an operation ended, what another login says of it, and what is sent then. */
const cases: [name: string, Intent, own: Outcome, others: Outcome, then: Intent][] = [
  ["an unknown payout as not created", payout("A", { asked }), unknown, notCreated, again],
  ["an accepted payout as Cancelled", payout("A", { asked }), accepted, cancelled, again],
  [
    "an unknown payout as Cancelled",
    payout("A", { asked }),
    unknown,
    { ...cancelled, remoteId: "X1" },
    again,
  ],
  [
    "the payout of the same reference as not created",
    payout("A"),
    unknown,
    notCreated,
    payout("A"),
  ],
  ["an unknown refund as not created", refund("T"), unknown, notCreated, refund("T")],
  ["an accepted refund as Cancelled", refund("T"), accepted, cancelled, refund("T")],
  [
    "an accepted refund as Cancelled, before another amount",
    refund("T"),
    accepted,
    cancelled,
    refund("T", 3n),
  ],
  ["an unknown payment as not created", tea, unknown, notCreated, tea],
];

describeEach(databases, "a claim beside what another login recorded:", ({ share }) => {
  test.each(cases)("%s", async (_, first, own, others, then) => {
    const { ledger, asBob } = await withBob(await share());
    const operation = await claimed(ledger, first);
    await record(ledger, operation, own);
    await asBob(() => learn(ledger, operation, others));
    const request = { intent: then, onDuplicate: "reject", paidPaisa: 1_000n, sealer } as const;
    const declared = { id: operation.id, others: { login: "bob" } };

    expect(await ledger.preview(request)).toMatchObject({ declared });
    expect(await ledger.claim(request)).toMatchObject({ declared });
  });

  test.each(cases)("%s, by the login that ordered it", async (_, first, own, others, then) => {
    const { ledger } = await withBob(await share());
    const operation = await claimed(ledger, first);
    await record(ledger, operation, own);
    await learn(ledger, operation, others);
    const request = { intent: then, onDuplicate: "reject", paidPaisa: 1_000n, sealer } as const;

    expect(await ledger.claim(request)).not.toHaveProperty("declared");
  });

  /** Bob gives a refund the ID of an older record; then its own person retrieves that one, which is Cancelled. */
  test.each([
    ["an accepted refund", accepted],
    ["a refund of unknown outcome", unknown],
  ])("%s as another record, which this login checks", async (_, own) => {
    const { ledger, asBob, pass } = await withBob(await share());
    const operation = await claimed(ledger, refund("T"));
    await record(ledger, operation, own);
    const older = { state: "CONFIRMED", remoteId: "X0", status: "Processing" } as const;
    await asBob(async () => {
      if (own === accepted)
        await learn(ledger, operation, { state: "CONFLICT", code: "record-differs" });
      await learn(ledger, operation, own === accepted ? { ...older, isReported: true } : older);
    });
    await learn(ledger, operation, cancelled);
    const request = { intent: refund("T"), onDuplicate: "reject", paidPaisa: 1_000n } as const;
    const declared = { id: operation.id, others: { login: "bob" } };

    // A record that was found later may be that of another refund.
    if (own === unknown) expect(await ledger.claim(request)).toMatchObject({ kind: "duplicate" });
    if (own === unknown) pass(25);
    expect(await ledger.preview(request)).toMatchObject({ declared });
    expect(await ledger.claim(request)).toMatchObject({ declared });
  });

  test.each([
    ["A", "B"],
    ["S-1-lenden2", "S-1"],
  ])("an unknown payout %s as accepted long ago, before %s", async (reference, next) => {
    const { ledger, asBob, pass } = await withBob(await share());
    const { sent: _, ...shown } = accepted;
    pass(-48);
    const operation = await claimed(ledger, payout(reference, { asked }));
    await record(ledger, operation, unknown);
    await asBob(() => learn(ledger, operation, shown));
    pass(48);
    const intent = payout(next, { asked });
    const request = { intent, onDuplicate: "reject", sealer } as const;
    expect(await ledger.claim(request)).toMatchObject({ declared: { id: operation.id } });
  });

  test("is told again if the same was ordered before, and not since then", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const first = await claimed(ledger, payout("A", { asked }));
    await record(ledger, first, accepted);
    const second = await ledger.claim({ intent: again, onDuplicate: "send", sealer });
    if (second.kind !== "new") throw new Error("the same was not ordered again");
    await record(ledger, second.operation, { state: "REFUSED", code: "rejected", sent: true });
    pass(-1);
    await asBob(() => learn(ledger, first, cancelled));
    pass(1);
    const intent = payout("C", { asked });
    const third = await ledger.preview({ intent, onDuplicate: "reject", sealer });
    expect(third).toMatchObject({ declared: { id: first.id, others: { login: "bob" } } });
  });

  test("is told again if what was ordered since then was rejected", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const { sent: _, ...shown } = accepted;
    pass(-23);
    const first = await claimed(ledger, payout("A", { asked }));
    await record(ledger, first, unknown);
    await asBob(() => learn(ledger, first, shown));
    pass(23);
    const second = await ledger.claim({ intent: again, onDuplicate: "send", sealer });
    if (second.kind !== "new") throw new Error("the same was not ordered again");
    await record(ledger, second.operation, { state: "REFUSED", code: "rejected", sent: true });
    pass(2);
    const intent = payout("C", { asked });
    const third = await ledger.preview({ intent, onDuplicate: "reject", sealer });
    expect(third).toMatchObject({ declared: { id: first.id, others: { login: "bob" } } });
  });

  test("is told whatever a third login recorded before", async () => {
    const { ledger, as, asBob } = await withBob(await share());
    const first = await claimed(ledger, payout("A", { asked }));
    await record(ledger, first, unknown);
    await as("alice", () => learn(ledger, first, notCreated));
    await record(ledger, await claimed(ledger, payout("A", { asked })), accepted);
    await asBob(() => learn(ledger, first, cancelled));
    const request = { intent: again, onDuplicate: "reject", sealer } as const;
    expect(await ledger.preview(request)).toMatchObject({
      ...{ declared: { id: first.id, others: { login: "bob" } } },
    });
  });

  test("is told before the reference of another one is used again", async () => {
    const { ledger, asBob } = await withBob(await share());
    const [rejected, next] = ["X", "Y"].map((last) => `LD-01KASW000000000000000000${last}Z`);
    const free = await claimed(ledger, payout(String(rejected), { asked }));
    await record(ledger, free, { state: "REFUSED", code: "rejected", sent: true });
    const first = await claimed(ledger, payout("A", { asked }));
    await record(ledger, first, unknown);
    await asBob(() => learn(ledger, first, notCreated));
    const intent = payout(String(next), { asked });
    const request = { intent, onDuplicate: "reject", isReferenceMade: true, sealer } as const;
    expect(await ledger.preview(request)).toMatchObject({
      ...{ kind: "resumed", operation: { id: free.id }, declared: { id: first.id } },
    });
  });

  test("is told before a row is sent again, whatever was ordered since then", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const first = await claimed(ledger, payout("S-1", { asked }));
    await record(ledger, first, accepted);
    await asBob(async () => {
      await learn(ledger, first, cancelled);
      const planted = await claimed(
        ledger,
        payout("S-1-lenden2", { asked: { ...asked, amount: 9 } }),
      );
      await record(ledger, planted, { state: "REFUSED", code: "rejected", sent: true });
    });
    pass(30);
    const request = (reference: string) => ({
      ...({ intent: payout(reference, { asked }), onDuplicate: "send", sealer } as const),
    });
    const next = await ledger.claim(request("SEPT-1"));
    if (next.kind !== "new") throw new Error("the next month was not sent");
    await record(ledger, next.operation, { ...accepted, remoteId: "X2" });

    const again = await ledger.claim(request("S-1-lenden3"));

    expect(again).toMatchObject({ declared: { id: first.id, others: { login: "bob" } } });
  });

  test("another order tells nothing of one that is itself sent again", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const first = await claimed(ledger, payout("A", { asked }));
    await record(ledger, first, unknown);
    await asBob(() => learn(ledger, first, notCreated));
    await record(ledger, await claimed(ledger, again), { ...accepted, remoteId: "X2" });
    pass(25);
    const request = { intent: payout("A", { asked }), onDuplicate: "reject", sealer } as const;

    const resumed = await ledger.claim(request);

    expect(resumed).toMatchObject({ kind: "resumed", declared: { id: first.id } });
  });

  test("another order tells nothing of one whose reference is used again", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const [lost, next] = ["X", "Y"].map((last) => `LD-01KASW000000000000000000${last}Z`);
    const first = await claimed(ledger, payout(String(lost), { asked }));
    await record(ledger, first, unknown);
    await asBob(() => learn(ledger, first, notCreated));
    const other = await claimed(ledger, again);
    await record(ledger, other, { ...accepted, remoteId: "X2" });
    await learn(ledger, other, cancelled);
    pass(1);
    const intent = payout(String(next), { asked });
    const request = { intent, onDuplicate: "reject", isReferenceMade: true, sealer } as const;
    expect(await ledger.claim(request)).toMatchObject({
      ...{ kind: "resumed", declared: { id: first.id } },
    });
  });

  const corrected: [what: string, given: Partial<Intent>][] = [
    ["amount", { asked, amountPaisa: 900n }],
    ["recipient", { asked: { ...asked, recipientNumber: "01799999999" } }],
  ];

  test.each(corrected)(
    "is told before a row is sent again with another %s, however often",
    async (_, given) => {
      const { ledger, asBob, pass } = await withBob(await share());
      const first = await claimed(ledger, payout("S-1", { asked }));
      await record(ledger, first, accepted);
      await asBob(() => learn(ledger, first, cancelled));
      for (const reference of ["S-1-lenden2", "S-1-lenden4"]) {
        pass(30);
        const request = {
          intent: payout(reference, given),
          onDuplicate: "reject",
          sealer,
        } as const;
        const declared = { id: first.id, others: { login: "bob" } };
        expect(await ledger.preview(request)).toMatchObject({ declared });
        const sent = await ledger.claim(request);
        if (sent.kind !== "new") throw new Error("the row was not sent again");
        expect(sent).toMatchObject({ declared });
        await record(ledger, sent.operation, { state: "REFUSED", code: "rejected", sent: true });
      }
    },
  );

  test("is told before a row with a long reference is sent again", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const long = "X".repeat(60);
    const first = await claimed(ledger, payout(long, { asked }));
    await record(ledger, first, accepted);
    await asBob(() => learn(ledger, first, cancelled));
    pass(30);
    const intent = payout(newReference(long), { asked });
    const sent = await ledger.claim({ intent, onDuplicate: "reject", sealer });
    expect(sent).toMatchObject({ kind: "new", declared: { id: first.id } });
  });

  test("a refund whose record differed as what was requested", async () => {
    const { ledger, asBob } = await withBob(await share());
    const first = await claimed(ledger, refund("T", 60n));
    await record(ledger, first, accepted);
    await learn(ledger, first, { state: "CONFLICT", code: "record-differs" });
    await asBob(() => learn(ledger, first, { state: "CONFIRMED", status: "Processing" }));
    const request = { intent: refund("T", 40n), onDuplicate: "reject", paidPaisa: 100n } as const;
    const declared = { id: first.id, others: { login: "bob" } };
    expect(await ledger.preview(request)).toMatchObject({ declared });
    expect(await ledger.claim(request)).toMatchObject({ kind: "new", declared });
  });

  test("nothing is told again after the same was ordered since then", async () => {
    const { ledger, asBob, pass } = await withBob(await share());
    const operation = await claimed(ledger, payout("A", { asked }));
    await record(ledger, operation, unknown);
    await asBob(() => learn(ledger, operation, notCreated));
    await record(ledger, await claimed(ledger, again), { ...accepted, remoteId: "X2" });
    pass(25);
    const intent = payout("C", { asked });
    const third = await ledger.claim({ intent, onDuplicate: "reject", sealer });
    expect(third).toMatchObject({ kind: "new" });
    expect(third).not.toHaveProperty("declared");
  });
});
