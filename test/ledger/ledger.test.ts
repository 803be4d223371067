import { expect, onTestFinished, test } from "vitest";
import { differingCode, type State } from "../../src/domain/state.ts";
import type { ChangeRequest } from "../../src/ledger/change.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Intent, Outcome } from "../../src/ledger/operation.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { collect } from "../support/helpers.ts";
import {
  claim,
  claimed,
  owner,
  payment,
  payout,
  record,
  refund,
  sealer,
  worker,
} from "./small-ledger.ts";
import { databases, describeEach, type Shared, stores } from "./stores.ts";

/** What the API created has an ID. */
const idOf = (state: string) => (state === "CONFIRMED" ? { remoteId: "PO1" } : {});

/** Creates payments, with one commit for the claims and one for the outcomes. */
async function sellAtOnce(
  { change }: Pick<Ledger, "change">,
  intents: Intent[],
  status: string,
): Promise<void> {
  const answers = await change(
    intents.map((intent) => ({ kind: "claim", intent, onDuplicate: "send", sealer })),
  );
  const numbers = answers.flatMap((one) => (one.kind === "new" ? one.operation.number : []));
  await change(
    numbers.map((operation) => {
      const outcome = { state: "CONFIRMED", remoteId: `TX${operation}`, status } as const;
      return { kind: "record", operation, outcome, release: true };
    }),
  );
}

describeEach(stores, "a claim", ({ share }) => {
  test("P4: is new once, locked while its process lives, and resumed when that died", async () => {
    const { open, end } = await share();
    const ledger = await open();
    expect(await claim(ledger, payout("A"))).toMatchObject({
      kind: "new",
      operation: { state: "INTENT", reference: "A", attempts: 0, amountPaisa: 500n },
    });
    const locked = { kind: "locked", holder: { pid: 1, machine: "m" } };
    expect(await claim(ledger, payout("A"))).toMatchObject(locked);
    await end(1);
    const next = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    expect(await claim(next, payout("A"))).toMatchObject({ kind: "resumed" });
  });

  test("counts the claims that are before it in the same change", async () => {
    const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };
    const ledger = await (await share()).open();
    const intents = [
      ...[payout("A", { asked }), payout("B", { asked }), payout("A", { asked })],
      ...[refund("TX1", 600n), refund("TX1", 500n), payment("tea"), payment("tea")],
    ];
    const answers = await ledger.change(
      intents.map((intent) => {
        return { kind: "claim", intent, onDuplicate: "reject", paidPaisa: 1_000n, sealer } as const;
      }),
    );
    expect(answers.map(({ kind }) => kind)).toEqual([
      ...["new", "duplicate", "locked", "new", "over-limit", "new", "duplicate"],
    ]);
  });

  test("of a payment finds that of its payer, however many others bought the same since", async () => {
    const ledger = await (await share()).open();
    const by = (payer: string): Intent => {
      const { asked, ...tea } = payment("tea");
      return { ...tea, asked: { ...asked, suggestedPayerNumber: payer } };
    };
    const sell = (status: string, ...payers: string[]) =>
      sellAtOnce(ledger, payers.map(by), status);
    await sell("Completed", "+8801712345678");
    await sell("Completed", ...Array.from({ length: 60 }, (_, one) => `018${10_000_000 + one}`));
    expect(await claim(ledger, by("01712345678"))).toMatchObject({ kind: "duplicate" });
    const lost = await claimed(ledger, by("01912345678"));
    await record(ledger, lost, { state: "UNCERTAIN", sent: true });
    await sell("Processing", ...Array.from({ length: 60 }, () => "01912345678"));
    const earlier = { number: lost.number };
    expect(await claim(ledger, by("01912345678"))).toMatchObject({ kind: "duplicate", earlier });
  });

  test("of a payment finds each kind that decides, however many of the other kinds are newer", async () => {
    let nowMs = Date.parse("2026-11-20T10:00:00.000Z");
    const ledger = await (await share()).open({ now: () => (nowMs += 1) });
    const { asked, ...tea } = payment("tea");
    const intent = { ...tea, asked: { ...asked, suggestedPayerNumber: "01712345678" } };
    const sell = async (outcome: Outcome) => {
      const operation = await claimed(ledger, intent);
      const remoteId = outcome.state === "CONFIRMED" ? { remoteId: `TX${operation.number}` } : {};
      await record(ledger, operation, { ...remoteId, ...outcome });
      return operation.number;
    };
    const abandon = () => sellAtOnce(ledger, Array(55).fill(intent), "Processing");
    const earlier = async () => {
      const answer = await claim(ledger, intent);
      return answer.kind === "duplicate" ? answer.earlier.number : answer.kind;
    };
    const paid = await sell({ state: "CONFIRMED", status: "Completed" });
    await abandon();
    nowMs += 11 * 60_000;
    expect(await earlier()).toBe(paid);
    const lost = await sell({ state: "UNCERTAIN", sent: true });
    await abandon();
    nowMs += 25 * 3_600_000;
    expect(await earlier()).toBe(lost);
  });

  test("I9: is a duplicate of an accepted payout without a reference", async () => {
    const ledger = await (await share()).open();
    const earlier = await claimed(ledger, { ...payout("A"), reference: null });
    await record(ledger, earlier, { state: "CONFIRMED", remoteId: "PO1", sent: true });
    expect(await claim(ledger, payout("A"))).toMatchObject({ kind: "duplicate" });
  });

  test("sees the outcomes of the same change", async () => {
    const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };
    const ledger = await (await share()).open();
    const [first, second, third, tea] = [
      payout("A", { asked }),
      payout("B"),
      payout("C"),
      payment("tea"),
    ];
    const outcomeOf = async (
      intent: Intent,
      outcome: Omit<Outcome, "sent">,
    ): Promise<ChangeRequest> => {
      const { number: operation } = await claimed(ledger, intent);
      return { kind: "record", operation, outcome: { sent: true, ...outcome }, release: true };
    };
    const outcomes = [
      await outcomeOf(first, { state: "CONFIRMED", remoteId: "PO1" }),
      await outcomeOf(second, { state: "NOT_SENT" }),
      await outcomeOf(third, { state: "REFUSED" }),
      await outcomeOf(tea, { state: "NOT_SENT" }),
    ];
    const claims = [payout("D", { asked }), second, third, tea].map(
      (intent): ChangeRequest => ({ kind: "claim", intent, onDuplicate: "reject", sealer }),
    );
    const answers = await ledger.change([...outcomes, ...claims]);
    expect(answers.slice(outcomes.length).map(({ kind }) => kind)).toEqual([
      ...["duplicate", "resumed", "finished", "new"],
    ]);
  });

  test("of a record that the API has is recorded once, and not beside what may have created it", async () => {
    const ledger = await (await share()).open();
    await claimed(ledger, payment("tea"));
    await claimed(ledger, refund("TX1"));
    const found = (remoteId: string) =>
      ({
        state: "CONFIRMED",
        remoteId,
        status: "Completed",
        recordCreatedAt: "2026-10-01T00:00:00.000Z",
      }) as const;
    const claims = [
      { intent: payout("A"), found: found("PO1") },
      { intent: payout("B"), found: found("PO1") },
      { intent: payout("A"), found: found("PO2") },
      { intent: payment("tea"), found: found("TX1") },
      { intent: payment("rice"), found: found("TX2") },
      { intent: refund("TX1"), found: found("RF1") },
      { intent: refund("TX2"), found: found("RF1") },
    ];
    const answers = await ledger.change(
      claims.map((one) => ({ kind: "claim", onDuplicate: "send", sealer, ...one }) as const),
    );
    expect(answers.map(({ kind }) => kind)).toEqual([
      ...["new", "finished", "different", "duplicate", "new", "duplicate", "new"],
    ]);
    expect(await ledger.find("A")).toMatchObject({
      ...{ state: "CONFIRMED", remoteId: "PO1", status: "Completed", holder: null, attempts: 0 },
      ...{ createdAt: "2026-10-01T00:00:00.000Z", acceptedAt: "2026-10-01T00:00:00.000Z" },
    });
    const ofOctober = ledger.list(undefined, { until: "2026-10-31T23:59:59.999Z" });
    expect((await collect(ofOctober)).map(({ remoteId }) => remoteId)).toEqual([
      "RF1",
      "TX2",
      "PO1",
    ]);
  });

  test("P4: belongs to the process that resumed it, which alone can record an outcome", async () => {
    const { open, end } = await share();
    const first = await open();
    const second = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    const operation = await claimed(first, payout("A"));
    await end(1);
    expect(await claim(second, payout("A"))).toMatchObject({ kind: "resumed" });
    expect(await claim(first, payout("A"))).toMatchObject({ kind: "locked", holder: { pid: 2 } });
    expect(await record(first, operation, { state: "NOT_SENT", sent: false })).toMatchObject({
      kind: "moved",
      operation: { state: "INTENT" },
    });
  });

  test.each([
    ["amount", { amountPaisa: 501n }],
    ["recipient", { asked: { recipientNumber: "01799999999", paymentMethodId: "m1" } }],
    ["method", { asked: { recipientNumber: "01712345678", paymentMethodId: "m2" } }],
  ])(
    "P6: with another %s is a different payout, whatever became of the first",
    async (_, given) => {
      const ledger = await (await share()).open();
      const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };
      const states = [
        "INTENT",
        "REFUSED",
        "NOT_SENT",
        "UNCERTAIN",
        "CONFIRMED",
        "CONFLICT",
      ] as const;
      for (const state of states) {
        const operation = await claimed(ledger, payout(state, { asked }));
        await record(ledger, operation, { ...idOf(state), state, sent: true });
        const answer = await claim(ledger, payout(state, { asked, ...given }));
        expect(answer).toMatchObject({ kind: "different" });
      }
    },
  );

  test.each([
    ["INTENT", undefined, "resumed"],
    ["NOT_SENT", undefined, "resumed"],
    ["UNCERTAIN", undefined, "resumed"],
    ["REFUSED", "access", "resumed"],
    ["REFUSED", "refused", "finished"],
    ["CONFLICT", "conflict", "finished"],
    ["CONFIRMED", undefined, "finished"],
  ] as const)("P5, P17: that ended %s (%s) is %s", async (state, code, kind) => {
    const ledger = await (await share()).open();
    const operation = await claimed(ledger, payout("A"));
    const outcome = { state, ...idOf(state), ...(code ? { code } : {}), sent: true };
    await record(ledger, operation, outcome);
    expect((await claim(ledger, payout("A"))).kind).toBe(kind);
  });

  test("P18: a payout whose reference was made takes that of the same payout that was denied or not sent", async () => {
    const ledger = await (await share()).open();
    const { asked } = payout("A");
    const send = async (reference: string, state: State, code?: string) => {
      const operation = await claimed(ledger, payout(reference, { asked }));
      await record(ledger, operation, { state, ...(code ? { code } : {}), sent: true });
    };
    const made = (reference: string, given = {}) =>
      ledger.claim({
        intent: payout(reference, { asked, ...given }),
        ...{ onDuplicate: "reject", isReferenceMade: true, sealer },
      });
    await send("DENIED", "REFUSED", "access");
    await send("UNSENT", "NOT_SENT");
    await send("REJECTED", "REFUSED", "refused");
    const first = await made("NEW");
    expect(first).toMatchObject({ kind: "resumed", operation: { reference: "DENIED" } });
    if (first.kind !== "resumed") throw new Error("a denied payout can be sent again");
    await record(ledger, first.operation, { state: "REFUSED", code: "refused", sent: true });
    expect(await made("NEXT")).toMatchObject({ operation: { reference: "UNSENT" } });
    expect(await made("MORE", { amountPaisa: 501n })).toMatchObject({ kind: "new" });
    const other = { ...asked, paymentMethodId: "m2" };
    await send("ANOTHER", "REFUSED", "access");
    expect(await made("OTHER", { asked: other })).toMatchObject({ kind: "duplicate" });
  });

  test("rejects a second refund that exceeds the payment, and the same one without a decision", async () => {
    const ledger = await (await share()).open();
    expect(await claim(ledger, refund("T", 600n))).toMatchObject({ kind: "new" });
    expect(await claim(ledger, refund("T", 500n))).toMatchObject({
      kind: "over-limit",
      refundablePaisa: 400n,
    });
    expect(await claim(ledger, refund("T", 400n))).toMatchObject({ kind: "new" });
    expect(await claim(ledger, refund("U", 300n))).toMatchObject({ kind: "new" });
    expect(await claim(ledger, refund("U", 300n))).toMatchObject({ kind: "duplicate" });
    // An imported refund, whose amount could not be read, may be of the whole payment.
    const unreadable = await claimed(ledger, { ...refund("W"), amountPaisa: null });
    await record(ledger, unreadable, { state: "CONFIRMED", remoteId: "R8", status: "Completed" });
    expect(await claim(ledger, refund("W", 1n))).toMatchObject({ kind: "over-limit" });
    // Of unknown outcome: it has to be resolved, although the payment has less left.
    const first = await claimed(ledger, refund("V", 600n));
    expect(await claim(ledger, refund("V", 600n))).toMatchObject({ kind: "duplicate" });
    await record(ledger, first, { state: "CONFIRMED", remoteId: "R9", status: "Processing" });
    expect(await claim(ledger, refund("V", 600n))).toMatchObject({ kind: "over-limit" });
  });

  test("counts a refund in CONFLICT, whatever status it had before", async () => {
    const ledger = await (await share()).open();
    const operation = await claimed(ledger, refund("T", 600n));
    const cancelled = { remoteId: "R1", status: "Cancelled", sent: true };
    await record(ledger, operation, { state: "CONFLICT", ...cancelled });
    expect(await claim(ledger, refund("T", 500n))).toMatchObject({ kind: "over-limit" });
  });
});

describeEach(stores, "accounts", ({ share }) => {
  test("an account of another key has its own references", async () => {
    const { open } = await share();
    const keys = ["aaaaaaaa", "bbbbbbbb"];
    const ledgers = await Promise.all(
      keys.map((keyId) => open({ owner: { ...owner, keyId, account: {} } })),
    );
    for (const ledger of ledgers)
      expect(await claim(ledger, payout("A"))).toMatchObject({ kind: "new" });
    expect(await Promise.all(ledgers.map((ledger) => ledger.account()))).toEqual([
      ...["key-aaaaaa", "key-bbbbbb"],
    ]);
  });

  test("P25b: the next key of a profile joins its account, and resends nothing of the first", async () => {
    const { open, end } = await share();
    const first = await open();
    await claimed(first, payout("SENT"));
    const accepted = { state: "CONFIRMED", remoteId: "PO1", sent: true } as const;
    await record(first, await claimed(first, payout("OVER")), accepted);
    const next = { ...owner, keyId: "next", account: { joins: "shop", proposed: "shop" } };
    await end(1);
    const holder = { pid: 2, lock: "2", machine: "m" };
    const second = await open({ owner: next, holder });
    expect(await second.account()).toBe("shop");
    expect(await claim(second, payout("SENT"))).toMatchObject({ kind: "other-key" });
    expect(await claim(second, payout("OVER"))).toMatchObject({ kind: "finished" });
    const seen = await second.find("SENT");
    if (!seen) throw new Error("an account has its operations");
    expect(await second.resume({ seen, sealer })).toMatchObject({ kind: "other-key" });
  });

  test("P25b: a payout that another key reopens belongs to that key", async () => {
    const { open, findings } = await share();
    const first = await open();
    const denied = { state: "REFUSED", code: "access", sent: true } as const;
    await record(first, await claimed(first, payout("DENIED")), denied);
    const next = { ...owner, keyId: "next", account: { joins: "shop", proposed: "shop" } };
    const second = await open({ owner: next });
    const reopened = await second.claim({
      intent: payout("DENIED"),
      onDuplicate: "reject",
      sealer,
    });
    expect(reopened).toMatchObject({ kind: "resumed", operation: { keyHash: "next" } });
    if (reopened.kind !== "resumed") throw new Error("a denied payout can be sent again");
    await record(second, reopened.operation, { state: "UNCERTAIN", sent: true });

    expect(await claim(first, payout("DENIED"))).toMatchObject({ kind: "other-key" });
    expect(await claim(second, payout("DENIED"))).toMatchObject({ kind: "resumed" });
    expect(await findings()).toEqual([]);
  });

  /** Ledgers of two accounts of the production environment. */
  async function inProduction() {
    const { open } = await share();
    const ofKey = (keyId: string) => {
      const production = { ...owner, environment: "production", keyId, account: {} };
      return open({ owner: production });
    };
    return { first: await ofKey("aaaaaaaa"), second: await ofKey("bbbbbbbb") };
  }

  test("in production, refunds of all accounts count against the payment", async () => {
    const { first, second } = await inProduction();
    await claimed(first, refund("T", 600n));
    expect(await claim(second, refund("T", 500n))).toMatchObject({
      kind: "over-limit",
      refundablePaisa: 400n,
    });
    expect(await claim(second, refund("T", 400n))).toMatchObject({ kind: "new" });
  });

  test("an unknown key never joins an account, and gets another name if the profile's is taken", async () => {
    const { open } = await share();
    await claimed(await open(), payout("A"));
    const other = { ...owner, keyId: "cccccccccccc" };
    const ledger = await open({ owner: other });
    expect(await ledger.find("A")).toBeUndefined();
    expect(await ledger.account()).toBe("shop-cccccc");
  });

  test("one key is one account, whatever the base URL", async () => {
    const { open } = await share();
    await claimed(await open(), payout("A"));
    const moved = { ...owner, baseUrl: "http://b", account: { proposed: "b" } };
    const ledger = await open({ owner: moved });
    expect([await ledger.account(), (await ledger.find("A"))?.reference]).toEqual(["shop", "A"]);
  });
});

describeEach(stores, "in production", ({ share }) => {
  /** Two accounts in one ledger, each with a base URL of its own. */
  const twoAccounts = async () => {
    const { open } = await share();
    let nowMs = Date.parse("2026-11-20T10:00:00.000Z");
    const ofKey = (keyId: string) => {
      const ofAccount = { keyId, baseUrl: `https://${keyId}.example`, account: {} };
      const production = { ...owner, ...ofAccount, environment: "production" };
      return open({ owner: production, now: () => nowMs });
    };
    const pass = (hours: number) => {
      nowMs += hours * 3_600_000;
    };
    return { own: await ofKey("own"), other: await ofKey("other"), pass };
  };
  const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };

  test("a payout, a payment and a refund of another account count as duplicates", async () => {
    const { own, other } = await twoAccounts();
    const paid = { state: "CONFIRMED", remoteId: "PO1", sent: true } as const;
    await record(other, await claimed(other, payout("A", { asked })), paid);
    for (const intent of [payment("tea"), refund("T")]) await claimed(other, intent);
    for (const intent of [payout("B", { asked }), payment("tea"), refund("T")])
      expect(await claim(own, intent)).toMatchObject({ kind: "duplicate" });
  });

  test("a reference that another account paid is a duplicate at any age", async () => {
    const { own, other, pass } = await twoAccounts();
    const paid = { state: "CONFIRMED", remoteId: "PO1", sent: true } as const;
    await record(other, await claimed(other, payout("A", { asked })), paid);
    pass(48);
    const chosen = (reference: string) => {
      const intent = payout(reference, { asked });
      return own.claim({ intent, onDuplicate: "reject-if-unknown", sealer });
    };
    expect(await chosen("A")).toMatchObject({ kind: "duplicate" });
    expect(await chosen("B")).toMatchObject({ kind: "new" });
  });
});

describeEach(databases, "a ledger", ({ share }) => {
  test("conflicts if a late response confirms something else than what is recorded", async () => {
    const { open, end, findings } = await share();
    const first = await open();
    const second = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    const operation = await claimed(first, payout("A"));
    await end(1);
    const resumed = await claimed(second, payout("A"));
    const rejected = { state: "REFUSED", sent: true, code: "refused" } as const;
    expect(await record(second, resumed, rejected)).toMatchObject({ kind: "recorded" });
    const late = { state: "CONFIRMED", remoteId: "P1", sent: true } as const;
    expect(await record(first, operation, late)).toMatchObject({
      kind: "moved",
      operation: { state: "CONFLICT" },
    });
    const history = await first.historyOf(operation);
    expect(history.map(({ event }) => event)).toEqual([
      ...["intent", "resumed", "attempt", "late", "attempt"],
    ]);
    expect(await findings()).toEqual([]);
  });

  test("an outcome keeps what it does not name, counts attempts alone, and releases only on request", async () => {
    const ledger = await (await share()).open();
    const operation = await claimed(ledger, payout("A"));
    const lost = { state: "UNCERTAIN", sent: true, message: "lost" } as const;
    await ledger.record({ operation: operation.number, outcome: lost, release: false });
    expect(await ledger.find(operation.id)).toMatchObject({
      state: "UNCERTAIN",
      attempts: 1,
      message: "lost",
      holder: { pid: 1 },
      acceptedAt: null,
    });
    const made = { state: "CONFIRMED", sent: true, remoteId: "PO1", status: "Processing" } as const;
    await record(ledger, operation, made);
    const accepted = await ledger.find(operation.id);
    expect(accepted).toMatchObject({
      state: "CONFIRMED",
      attempts: 2,
      message: null,
      holder: null,
      remoteId: "PO1",
      acceptedAt: accepted?.updatedAt,
      completedAt: null,
    });
    if (!accepted) throw new Error("the ledger lost a payout");
    await ledger.learn({ seen: accepted, outcome: { state: "CONFIRMED", status: "Completed" } });
    const completed = await ledger.find(operation.id);
    expect(completed).toMatchObject({
      attempts: 2,
      remoteId: "PO1",
      status: "Completed",
      acceptedAt: accepted.acceptedAt,
      completedAt: completed?.updatedAt,
    });
    expect((await ledger.historyOf(operation)).map(({ event }) => event)).toEqual([
      ...["intent", "attempt", "attempt", "look"],
    ]);
  });

  test("an outcome follows another one of the same change", async () => {
    const ledger = await (await share()).open();
    const { number: operation, id } = await claimed(ledger, payout("A"));
    const lost = { state: "UNCERTAIN", sent: true } as const;
    const made = { state: "CONFIRMED", sent: true, remoteId: "PO1" } as const;
    const answers = await ledger.change([
      { kind: "record", operation, outcome: lost, release: false },
      { kind: "record", operation, outcome: made, release: true },
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual(["recorded", "recorded"]);
    expect(await ledger.find(id)).toMatchObject({ state: "CONFIRMED", attempts: 2, holder: null });
  });

  test("an operation completed when the first record that showed it was updated", async () => {
    const { open, findings } = await share();
    const ledger = await open();
    const operation = await claimed(ledger, payout("A"));
    const made = { state: "CONFIRMED", remoteId: "PO1", sent: true } as const;
    await record(ledger, operation, {
      ...{ ...made, status: "Processing", recordUpdatedAt: "2026-11-18T23:00:00.000Z" },
    });
    for (const recordUpdatedAt of ["2026-11-19T01:00:00.000Z", "2026-11-21T01:00:00.000Z"]) {
      const seen = await ledger.find(operation.id);
      if (!seen) throw new Error("the ledger lost a payout");
      const outcome = { state: "CONFIRMED", status: "Completed", recordUpdatedAt } as const;
      await ledger.learn({ seen, outcome });
    }
    expect(await ledger.find(operation.id)).toMatchObject({
      completedAt: "2026-11-19T01:00:00.000Z",
    });
    expect(await findings()).toEqual([]);
  });

  test.each([
    ["a lone surrogate", "no \ud83d"],
    ["NUL", "no \0"],
  ])("%s is replaced in the ledger and in its events", async (_, message) => {
    const { open, findings } = await share();
    const ledger = await open();
    const asked = { recipientNumber: "01712345678", recipientName: message, paymentMethodId: "m1" };
    const operation = await claimed(ledger, payout("A", { asked }));
    await record(ledger, operation, { state: "REFUSED", message, sent: true });
    expect(await ledger.find("A")).toMatchObject({ message: "no \ufffd" });
    expect((await ledger.historyOf(operation)).at(-1)?.data).toMatchObject({
      message: "no \ufffd",
    });
    expect(await findings()).toEqual([]);
  });

  test("shows how an operation was last sent, and the process that works on it", async () => {
    const { open, end } = await share();
    const ledger = await open();
    const merchantRef = "LD-01KASW0000000000000000000Z";
    const askedFor = (recipientName: string) => {
      const method = { paymentMethodId: "m1", merchantRef };
      return { asked: { recipientNumber: "01712345678", recipientName, ...method } };
    };
    const first = await claimed(ledger, payout(merchantRef, askedFor("Ann")));
    expect(await ledger.holderOf(first)).toMatchObject({ pid: 1 });
    await record(ledger, first, { state: "REFUSED", code: "refused", sent: true });
    expect(await ledger.holderOf(first)).toBeUndefined();
    const again = await claimed(ledger, payout(merchantRef, askedFor("Anne")));
    const { at = "" } = (await ledger.historyOf(again)).at(-1) ?? {};
    // With a server, by the clock of the process that asks.
    expect(Date.parse(await ledger.lastSentAt(again))).toBeGreaterThanOrEqual(Date.parse(at));
    await end(1);
    const second = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    expect(await second.holderOf(again)).toBeUndefined();
  });

  test("previews a claim, and records nothing of it", async () => {
    const ledger = await (await share()).open();
    const request = { intent: payout("A"), onDuplicate: "reject", sealer } as const;
    expect(await ledger.preview(request)).toMatchObject({ kind: "new" });
    expect([await ledger.find("A"), await ledger.isAccountStored()]).toEqual([undefined, false]);
    await claimed(ledger, payout("A"));
    expect(await ledger.preview(request)).toMatchObject({ kind: "locked", holder: { pid: 1 } });
  });

  test("knows its account and its key, and a reader without a key reads all accounts", async () => {
    const { open } = await share();
    const ledger = await open();
    expect(await ledger.isAccountStored()).toBe(false);
    const operation = await claimed(ledger, payout("A"));
    expect(await ledger.isAccountStored()).toBe(true);
    const next = await open({ owner: { ...owner, keyId: "next", account: { joins: "shop" } } });
    expect([ledger, next].map((one) => one.isOfThisKey(operation))).toEqual([true, false]);
    await claimed(await open({ owner: { ...owner, keyId: "other", account: {} } }), payout("B"));
    const reader = await open({ owner: { ...owner, environment: "", keyId: "" } });
    expect([ledger, next, reader].map((one) => one.hasAllAccounts)).toEqual([false, false, true]);
    const references = (await collect(reader.list(undefined))).map(({ reference }) => reference);
    expect(references).toEqual(["B", "A"]);
    expect((await reader.find("B"))?.reference).toBe("B");
  });

  test("lists and finds the operations of one account alone, newest first", async () => {
    const { open } = await share();
    const ledger = await open();
    const other = await open({ owner: { ...owner, keyId: "other", account: {} } });
    const confirm = async (of: Ledger, reference: string, remoteId: string, status: string) =>
      record(of, await claimed(of, payout(reference)), {
        state: "CONFIRMED",
        remoteId,
        status,
        sent: true,
      });
    await confirm(ledger, "A", "PO1", "Completed");
    await confirm(other, "X", "PO9", "Completed");
    await confirm(ledger, "B", "PO2", "Processing");
    await claimed(ledger, payout("C"));
    await claimed(ledger, payment("p"));
    const refs = async (filter: object) =>
      (await collect(ledger.list("payout", filter))).map(({ reference }) => reference);
    expect(await refs({})).toEqual(["C", "B", "A"]);
    expect(await refs({ limit: 2 })).toEqual(["C", "B"]);
    expect(await refs({ status: "Completed" })).toEqual(["A"]);
    const second = (await ledger.find("B"))?.createdAt ?? "";
    expect(await refs({ since: second })).toEqual(["C", "B"]);
    expect(await refs({ until: second })).toEqual(["B", "A"]);
    expect(await refs({ since: second, until: second, status: "Processing" })).toEqual(["B"]);
    expect(await refs({ states: ["CONFIRMED"] })).toEqual(["B", "A"]);
    const newest = await collect(ledger.list(undefined, { limit: 2 }));
    expect(newest.map(({ kind }) => kind)).toEqual(["payment", "payout"]);
    const found = await ledger.find("A");
    expect([await ledger.find("PO1"), await ledger.find(found?.id ?? "")]).toEqual([found, found]);
    for (const name of ["X", "PO9", ""]) expect(await ledger.find(name)).toBeUndefined();
    expect((await ledger.findElsewhere("X"))?.remoteId).toBe("PO9");
    expect((await ledger.unsettled()).map(({ reference, kind }) => reference ?? kind)).toEqual([
      ...["C", "payment"],
    ]);
  });

  test("a name with a character that no store can have is not found", async () => {
    const ledger = await (await share()).open();
    const names = ["\0", "A\0B", "\ud83d"];
    for (const name of names) expect(await ledger.find(name)).toBeUndefined();
    expect(await ledger.ofNames(names)).toEqual([]);
  });

  test("all operations are read page by page, each once", async () => {
    const ledger = await (await share()).open();
    const claims = Array.from({ length: 503 }, (_, index) => payout(`${index}`)).map(
      (intent) => ({ kind: "claim", intent, onDuplicate: "send", sealer }) as const,
    );
    await ledger.change(claims);
    const numbers = (await collect(ledger.list(undefined, { oldestFirst: true }))).map(
      ({ number }) => Number(number),
    );
    expect(numbers).toEqual(Array.from({ length: 503 }, (_, index) => index + 1));
  });
});

describeEach(databases, "a process that the ledger does not know", ({ share }) => {
  test("P4: may still run: its operation is locked, for a preview, too", async () => {
    const { open, run, close } = await share();
    onTestFinished(close);
    await claimed(await open(), payout("A"));
    await run("DELETE FROM processes");
    const other = await open({
      holder: { pid: 2, lock: "2", machine: "m" },
      isAlive: () => true,
    });
    const again = { intent: payout("A"), onDuplicate: "reject", sealer } as const;
    expect(await other.preview(again)).toMatchObject({ kind: "locked" });
    expect(await other.claim(again)).toMatchObject({ kind: "locked" });
  });
});

describeEach(stores, "I10: an ID of the API belongs to one operation", ({ share }) => {
  const confirmed = (remoteId: string) => ({ state: "CONFIRMED", remoteId, sent: true }) as const;
  const two = async (given: Parameters<Shared<unknown>["open"]>[0] = {}) => {
    const { open, findings } = await share();
    const ledger = await open(given);
    const one = await claimed(ledger, payout("A"));
    return { findings, ledger, one, other: await claimed(ledger, payout("B")) };
  };

  test("an ID that another payout has is not recorded, and the outcome is unknown", async () => {
    const { findings, ledger, one, other } = await two();
    expect(await record(ledger, one, confirmed("PO1"))).toMatchObject({ kind: "recorded" });
    expect(await record(ledger, other, confirmed("PO1"))).toEqual({ kind: "id-taken", by: one.id });
    expect(await ledger.find("B")).toMatchObject({ state: "UNCERTAIN", remoteId: null });
    expect(await findings()).toEqual([]);
  });

  test("an ID of two payouts in one change is recorded once", async () => {
    const { ledger, one, other } = await two();
    const answers = await ledger.change(
      [one, other].map(({ number: operation }) => {
        return { kind: "record", operation, outcome: confirmed("PO1"), release: true } as const;
      }),
    );
    expect(answers).toMatchObject([{ kind: "recorded" }, { kind: "id-taken", by: one.id }]);
    expect(await ledger.find("B")).toMatchObject({ state: "UNCERTAIN", remoteId: null });
  });

  test("an ID of a resumed payout and of a new one in one change is recorded once", async () => {
    const { open, end } = await share();
    await claimed(await open(), payout("A"));
    await end(1);
    const ledger = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    const resumed = await claim(ledger, payout("A"));
    if (resumed.kind !== "resumed") throw new Error("the payout was not resumed");
    const other = await claimed(ledger, payout("B"));
    const answers = await ledger.change(
      [resumed.operation, other].map(({ number: operation }) => {
        return { kind: "record", operation, outcome: confirmed("PO1"), release: true } as const;
      }),
    );
    const by = resumed.operation.id;
    expect(answers).toMatchObject([{ kind: "recorded" }, { kind: "id-taken", by }]);
  });

  test("an ID that another payout has is not recorded by a status check", async () => {
    const { ledger, one, other } = await two();
    await record(ledger, one, confirmed("PO1"));
    await record(ledger, other, { state: "UNCERTAIN", sent: true });
    const seen = await ledger.find("B");
    if (!seen) throw new Error("the ledger lost a payout");
    expect(await ledger.learn({ seen, outcome: confirmed("PO1") })).toMatchObject({
      kind: "moved",
    });
    expect(await ledger.find("B")).toMatchObject({ state: "UNCERTAIN", remoteId: null });
  });

  test("a sandbox on this machine may return an ID again after a restart", async () => {
    const { ledger, one, other } = await two({
      owner: { ...owner, baseUrl: "http://127.0.0.1:4242" },
    });
    await record(ledger, one, confirmed("PO1"));
    expect(await record(ledger, other, confirmed("PO1"))).toMatchObject({ kind: "recorded" });
  });
});

describeEach(databases, "a sandbox whose key is new, beside production", ({ share }) => {
  test("repeats nothing of production", async () => {
    const shared = await share();
    const of = (environment: "production" | "sandbox", keyId: string) =>
      shared.open({ owner: { ...owner, environment, keyId } });
    const production = await of("production", "live");
    for (const intent of [payout("A"), payment("tea"), refund("TX1")]) {
      const accepted = { state: "CONFIRMED", remoteId: intent.kind, sent: true } as const;
      await record(production, await claimed(production, intent), accepted);

      const again = await claim(await of("sandbox", intent.kind), { ...intent, reference: null });

      expect(again.kind).toBe("new");
    }
  });
});

test("a claim of a payment reads at most 50 equal ones of each status", async () => {
  const database = await openDatabase(":memory:");
  let most = 0;
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    const all: typeof statement.all = (...values) => {
      const rows = statement.all(...values);
      most = Math.max(most, rows.length);
      return rows;
    };
    return { ...statement, all, get: statement.get, run: statement.run };
  };
  const ledger = openLedger({ ...database, prepare }, worker({ now: () => Date.now() }));
  for (const status of ["Completed", "Processing"])
    await sellAtOnce(ledger, Array(60).fill(payment("tea")), status);
  expect(await claim(ledger, payment("tea"))).toMatchObject({ kind: "duplicate" });
  expect(most).toBe(100);
});

describeEach(databases, "a retrieved record", ({ share }) => {
  test("P24b: that changes a final status is an event, and the ledger checks", async () => {
    const shared = await share();
    const ledger = await shared.open();
    const seen = await claimed(ledger, payment("tea"));
    const confirmed = { state: "CONFIRMED", remoteId: "TX1", status: "Processing" } as const;
    await record(ledger, seen, { ...confirmed, sent: true });
    const look = async (outcome: Outcome) => {
      const now = await ledger.find("TX1");
      if (!now) throw new Error("the ledger lost a payment");
      expect(await ledger.learn({ seen: now, outcome })).toEqual({ kind: "recorded" });
      return ledger.find("TX1");
    };
    const completed = await look({ state: "CONFIRMED", status: "Completed" });
    expect(await look({ state: "CONFLICT", code: differingCode, message: "amount" })).toMatchObject(
      { state: "CONFLICT", code: differingCode, status: "Completed" },
    );
    const { acceptedAt, completedAt } = completed ?? {};
    expect(await look({ state: "CONFIRMED", status: "Cancelled" })).toMatchObject({
      ...{ state: "CONFIRMED", code: null, message: null, status: "Cancelled" },
      ...{ acceptedAt, completedAt },
    });
    expect((await ledger.historyOf(seen)).map(({ event }) => event)).toEqual([
      ...["intent", "attempt", "look", "look", "final-status-changed"],
    ]);
    expect(await shared.findings()).toEqual([]);
  });

  test("P16b: of a refund that differs is in no sum of its payment", async () => {
    const ledger = await (await share()).open();
    const paid = await claimed(ledger, payment("tea"));
    await record(ledger, paid, { state: "CONFIRMED", remoteId: "TX1", sent: true });
    for (const [at, amountPaisa] of [500n, 300n].entries()) {
      const seen = await claimed(ledger, refund("TX1", amountPaisa));
      const confirmed = { state: "CONFIRMED", remoteId: `RF${at}`, status: "Completed" } as const;
      await record(ledger, seen, { ...confirmed, sent: true });
    }
    const seen = await ledger.find("RF1");
    if (!seen) throw new Error("the ledger lost a refund");
    await ledger.learn({ seen, outcome: { state: "CONFLICT", code: differingCode } });
    expect(await collect(ledger.list("payment"))).toMatchObject([
      { refunds: { completedPaisa: 500n, openPaisa: 0n, differing: 1 } },
    ]);
    expect(await claim(ledger, refund("TX1", 100n))).toMatchObject({
      kind: "over-limit",
      refundablePaisa: 0n,
    });
  });
});

describeEach(databases, "the changes of a process", ({ share }) => {
  const unknown: Outcome = { state: "UNCERTAIN", code: "uncertain", message: "lost", sent: true };
  const accepted: Outcome = { ...unknown, state: "CONFIRMED", remoteId: "X1" };

  /** What two plans do at once that an agent lets one process send. */
  test.each([
    ["is tried again", false],
    ["is taken again", true],
  ])(
    "beside each other are recorded as one after the other: a payout that %s",
    async (_, release) => {
      const { open, findings, close } = await share();
      onTestFinished(close);
      const ledger = await open();
      await claimed(ledger, payout("FIRST"));
      const own = await claimed(ledger, payout("A"));
      const other = claim(ledger, payout("B"));
      const tried = ledger.record({ operation: own.number, outcome: unknown, release });
      await other;
      await Promise.all([tried, claim(ledger, payout("C"))]);
      if (release) await claimed(ledger, payout("A"));

      await record(ledger, own, accepted);

      expect(await ledger.find("A")).toMatchObject({ state: "CONFIRMED", attempts: 2 });
      expect(await findings()).toEqual([]);
    },
  );

  test("start from what another one recorded meanwhile, that counted it as ended", async () => {
    const { open, end, findings, close } = await share();
    onTestFinished(close);
    const ledger = await open();
    const own = await claimed(ledger, payout("A"));
    await end(1);
    const other = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
    const [seen] = await other.unsettled();
    if (!seen) throw new Error("nothing is unsettled");
    const learnt: Outcome = { state: "UNCERTAIN", code: "uncertain", message: "not found" };
    await other.learn({ seen, outcome: learnt });
    await claimed(ledger, payout("A"));

    await record(ledger, own, { state: "UNCERTAIN", sent: true });

    expect(await findings()).toEqual([]);
  });
});
