const ofLedger = ["test/ledger/ledger.test.ts"];
const edited = (title) => ["test/ledger/edited.test.ts", "-t", title];
const inProduction = [...ofLedger, "-t", "in production"];
const duplicates = (title) => ["test/commands/duplicates.test.ts", "-t", title];
const protection = (title) => ["test/commands/duplicate-protection.test.ts", "-t", title];

const hourMs = 60 * 60_000;

/** Bugs of who may send what: other facts about a claim, or another answer to it. */
export const decideBugs = [
  {
    name: "--again is not needed for a refund",
    seam: "claim",
    decorate: (decide) => (request, facts) =>
      decide(isRefund(request) ? { ...request, onDuplicate: "send" } : request, facts),
    tests: ofLedger,
  },
  {
    name: "the sum of refunds is not checked",
    seam: "claim",
    decorate: (decide) => (request, facts) => {
      const decision = decide(request, facts);
      if (decision.kind !== "over-limit") return decision;
      const { paidPaisa } = request;
      const refundedPaisa = paidPaisa - decision.refundablePaisa;
      return decide({ ...request, paidPaisa: paidPaisa + refundedPaisa }, facts);
    },
    tests: ofLedger,
  },
  {
    name: "a claim believes the columns of an operation",
    seam: "modification",
    decorate: () => () => undefined,
    tests: edited("is not claimed again, whatever was edited"),
  },
  {
    name: "a claim compares the state of an operation, but not its times",
    seam: "modification",
    decorate: (find) => (stored, history) => {
      const found = find(stored, history);
      const columns = found?.columns.filter((column) => !column.endsWith("_at")) ?? [];
      return found && columns.length > 0 ? { ...found, columns } : undefined;
    },
    tests: edited(""),
  },
  {
    name: "a refund that the API rejected is sent again at once",
    seam: "claim",
    decorate: byFacts(({ nowMs }, request) => (isRefund(request) ? { nowMs: nowMs + hourMs } : {})),
    tests: protection("for ten minutes after the API rejected the same refund"),
  },
  {
    name: "what the same payer has paid is created again",
    seam: "claim",
    decorate: withoutSimilar(({ kind, status }) => kind === "payment" && status === "Completed"),
    tests: protection("what the same payer has paid"),
  },
  {
    name: "a payout whose outcome is unknown is sent again with another API key",
    seam: "claim",
    decorate: byFacts(({ same, keyHash }) => ({ keyHash: same?.keyHash ?? keyHash })),
    tests: ofLedger,
  },
  {
    name: "a payout that another account made by the same reference is made again",
    seam: "claim",
    decorate: byFacts((facts, { intent }) => ({
      similar: facts.similar.map((one) =>
        isSameReferenceElsewhere(one, intent, facts) ? { ...one, reference: null } : one,
      ),
    })),
    tests: ofLedger,
  },
  {
    name: "a reference that another account paid is sent again",
    seam: "claim",
    decorate: withoutSimilar(
      (one, { intent, onDuplicate }, facts) =>
        onDuplicate === "reject-if-unknown" &&
        one.state === "CONFIRMED" &&
        isSameReferenceElsewhere(one, intent, facts),
    ),
    tests: inProduction,
  },
  {
    name: "refunds with another API key are not counted",
    seam: "claim",
    decorate: withoutSimilar(
      ({ kind, keyHash }, _, facts) => kind === "refund" && keyHash !== facts.keyHash,
    ),
    tests: ofLedger,
  },
  {
    name: "a different payout with a known reference is taken for the same",
    seam: "claim",
    decorate: (decide) => (request, facts) => {
      const decision = decide(request, facts);
      if (decision.kind !== "different") return decision;
      const { amountPaisa, asked } = facts.same;
      return decide({ ...request, intent: { ...request.intent, amountPaisa, asked } }, facts);
    },
    tests: ofLedger,
  },
  {
    name: "a payout without --ref is sent twice",
    seam: "claim",
    decorate: (decide) => (request, facts) => {
      const { intent, onDuplicate } = request;
      const isRow = intent.kind !== "payout" || (intent.batch ?? null) !== null;
      if (isRow || onDuplicate !== "reject") return decide(request, facts);
      return decide({ ...request, onDuplicate: "reject-if-unknown" }, facts);
    },
    tests: protection("with a generated reference is rejected"),
  },
  {
    name: "a payout that was denied access is sent again with a new reference",
    seam: "claim",
    decorate: byFacts(({ similar }, { intent }) =>
      intent.kind === "payout"
        ? { similar: similar.filter(({ state }) => state !== "REFUSED") }
        : {},
    ),
    tests: protection("the denied reference again"),
  },
  {
    name: "P17: a payout that was rejected is sent again with a new reference",
    seam: "claimFacts",
    decorate: withoutFacts(
      ({ kind, state, code }) => kind === "payout" && state === "REFUSED" && code !== "access",
    ),
    tests: protection("sends the rejected reference again after"),
  },
  {
    name: "P17: a rejected reference is sent again after a day",
    seam: "claim",
    decorate: byFacts(({ nowMs, same }) =>
      same?.state === "REFUSED" ? { nowMs: nowMs - 48 * hourMs } : {},
    ),
    tests: protection("after 24 hours"),
  },
  {
    name: "P17: a reference that a user gave is sent again after a rejection",
    seam: "claim",
    decorate: (decide) => (request, facts) => {
      const decision = decide(request, facts);
      const { operation } = decision;
      const isRejected = decision.kind === "finished" && operation.state === "REFUSED";
      return isRejected ? { kind: "resumed", operation, isReopened: true } : decision;
    },
    tests: protection("that a user gave is retired"),
  },
  {
    name: "an accepted payout is no duplicate after an hour",
    seam: "claim",
    decorate: byFacts(({ nowMs }, { intent }) =>
      intent.kind === "payout" ? { nowMs: nowMs + 23 * hourMs } : {},
    ),
    tests: protection("however it is written"),
  },
  {
    name: "a duplicate recipient is compared as text",
    seam: "claim",
    decorate: withoutSimilar(
      (one, { intent }) => one.asked.recipientNumber !== intent.asked.recipientNumber,
    ),
    tests: protection("is rejected as one without"),
  },
  {
    name: "a payout is sent although a batch is still to send it",
    seam: "claim",
    decorate: byFacts(({ planned }, { intent }) =>
      planned?.reference === intent.reference ? {} : { planned: undefined },
    ),
    tests: duplicates("has the same row to send"),
  },
  {
    name: "a payout takes a reference that a batch is still to send",
    seam: "claim",
    decorate: byFacts((_, { onDuplicate }) =>
      onDuplicate === "send" ? { planned: undefined } : {},
    ),
    tests: duplicates("with a reference that a batch has to send"),
  },
  {
    name: "duplicate payouts in production count for one account alone",
    seam: "claimFacts",
    decorate: (create) => (dialect, recorder) => {
      const factsOf = create(dialect, recorder);
      return function* (processes, claims, account) {
        const facts = yield* factsOf(processes, claims, account);
        return facts.map((one, place) =>
          claims[place].intent.kind === "payout" ? { ...one, similar: ofAccount(one) } : one,
        );
      };
    },
    tests: inProduction,
  },
  {
    name: "duplicates in production count for one base URL alone",
    seam: "claimFacts",
    decorate: withoutFacts(
      ({ kind, baseUrl }, { owner }) => kind !== "payout" && baseUrl !== owner.baseUrl,
    ),
    tests: inProduction,
  },
  {
    name: "a raw refund does not count what was refunded before",
    seam: "claimFacts",
    decorate: withoutFacts(({ kind }, { command }) => kind === "refund" && command === "api"),
    tests: protection("to create a refund is rejected"),
  },
];

/** Decides a claim by facts some of which are others. */
function byFacts(change) {
  return (decide) => (request, facts) => decide(request, { ...facts, ...change(facts, request) });
}

function isRefund({ intent }) {
  return intent.kind === "refund";
}

/** Decides a claim without some of the operations that it may repeat. */
function withoutSimilar(isHidden) {
  return byFacts((facts, request) => ({
    similar: facts.similar.filter((one) => !isHidden(one, request, facts)),
  }));
}

/** Reads the facts of claims without some of the operations that these may repeat. */
function withoutFacts(isHidden) {
  return (create) => (dialect, recorder) => {
    const factsOf = create(dialect, recorder);
    return function* (...asked) {
      const facts = yield* factsOf(...asked);
      return facts.map((one) => {
        return { ...one, similar: one.similar.filter((earlier) => !isHidden(earlier, recorder)) };
      });
    };
  };
}

function isSameReferenceElsewhere({ kind, reference, account }, intent, facts) {
  return kind === "payout" && reference === intent.reference && account !== facts.account;
}

function ofAccount({ similar, account: own }) {
  return similar.filter(({ account }) => account === own);
}
