const inLedger = (title) => ["test/ledger/other-logins.test.ts", "-t", title];
const inHistory = ["test/ledger/transitions.test.ts"];

/** Without the logins, every event counts as one of its person. */
const withoutLogins = (history) => history.map((one) => ({ ...one, login: undefined }));

/** Finds the newest of all logins together, instead of the newest of each. @param {string} sql */
function ofAllLogins(sql) {
  const order = /AND o\.login = logins\.login(\s+ORDER BY .*?)o\.login DESC,/gs;
  return sql.replace(order, "$1");
}

const flooded = (what, seam) => ({
  name: `others: newer equal ones of another login hide ${what}`,
  seam,
  decorate:
    (find) =>
    (...given) => {
      const found = find(...given);
      if (typeof found === "string") return ofAllLogins(found);
      return { ...found, newest: ofAllLogins(found.newest) };
    },
  tests: ["test/ledger/edited.test.ts", "-t", `of other logins do not hide ${what}`],
});

/** Whoever recorded an operation is always trusted. */
const recorderTrusted =
  (right) =>
  ({ recorder, own }, operation, history) =>
    right(
      { recorder, own },
      operation,
      history.map((one) => (one.login === recorder ? { ...one, login: own } : one)),
    );

/** Bugs of what another login adds to an operation of a shared ledger. */
export const otherLoginBugs = [
  flooded("a payout", "equalPayouts"),
  flooded("a refund", "equalRefunds"),
  flooded("a payment", "equalPayments"),
  flooded("a cancel", "equalChanges"),
  {
    name: "others: any event may follow any other one",
    seam: "canFollow",
    decorate: () => () => true,
    tests: inHistory,
  },
  {
    name: "others: any login records an attempt of a process",
    seam: "canFollow",
    decorate: (canFollow) => (before, one, earlier) =>
      canFollow(before, one, withoutLogins(earlier)),
    tests: inHistory,
  },
  {
    name: "others: an accepted payout can be declared not created",
    seam: "canFollow",
    decorate: (canFollow) => (before, one, earlier) =>
      one.data.code === "declared" || canFollow(before, one, earlier),
    tests: inHistory,
  },
  {
    name: "others: an attempt tells when its payout was accepted",
    seam: "canFollow",
    decorate: (canFollow) => (before, one, earlier) =>
      canFollow(before, { ...one, data: { ...one.data, recordCreatedAt: undefined } }, earlier),
    tests: inHistory,
  },
  {
    name: "P25: whoever reopens a payout makes it young again",
    seam: "sendable",
    decorate: (sendable) => (logins, operation, history) =>
      sendable(logins, operation, withoutLogins(history)),
    tests: inLedger("as old as its intent"),
  },
  {
    name: "P25: whoever recorded a payout makes it young again after another login sent it",
    seam: "sendable",
    decorate: recorderTrusted,
    tests: inLedger("as old as this login sent it"),
  },
  {
    name: "others: whoever recorded a payout declares what another login sent",
    seam: "others",
    decorate: recorderTrusted,
    tests: inLedger("records it as Cancelled"),
  },
  {
    name: "P25: a payout is as young as this login took it, whoever else did before",
    seam: "sendable",
    decorate: (sendable) => (logins, operation, history) =>
      sendable(
        logins,
        operation,
        history.filter(({ event, login }) => event === "intent" || login === logins.own),
      ),
    tests: inLedger("as old as another login sent it"),
  },
  {
    name: "P25b: a payout that several keys took belongs to the last of them",
    seam: "sendable",
    decorate: (sendable) => (logins, operation, history) => {
      const { openedAt, keyHash } = sendable(logins, operation, history);
      return { openedAt, keyHash: keyHash || operation.keyHash };
    },
    tests: inLedger("belongs to no key"),
  },
  {
    name: "P25b: a payout belongs to whatever key reopened it last",
    seam: "ofKey",
    decorate: () => (found, own) => found.keyHash === own,
    tests: inLedger("to the key of neither"),
  },
  {
    name: "others: what another login declared is sent again without a word",
    seam: "others",
    decorate: () => () => null,
    tests: inLedger("a claim beside"),
  },
  {
    name: "others: an unsettled payout of anyone counts as ordered",
    seam: "wasChecked",
    decorate: () => () => true,
    tests: inLedger("is sent only if it repeats nothing"),
  },
  {
    name: "others: a payout that others reopened counts as ordered",
    seam: "wasChecked",
    decorate: (wasChecked) => (same, request) => wasChecked({ ...same, others: null }, request),
    tests: inLedger("after another login reopened it"),
  },
  {
    name: "others: the time that another login writes makes a rejected payout old",
    seam: "freeBefore",
    decorate: (freeBefore) => (request, facts) =>
      freeBefore(request, {
        ...facts,
        similar: facts.similar.map((one) => ({ ...one, others: null })),
      }),
    tests: inLedger("whatever time the other login writes"),
  },
  {
    name: "others: a reference replaces one that was accepted",
    seam: "replaced",
    decorate: () => () => [],
    tests: inLedger("is not sent if that one was"),
  },
  {
    name: "others: a line can be accepted for what was rejected",
    seam: "canFollow",
    decorate: (canFollow) => (before, one, earlier) =>
      one.data.matched !== undefined || canFollow(before, one, earlier),
    tests: inHistory,
  },
  {
    name: "others: what its own person declared counts as that of another login",
    seam: "others",
    decorate:
      (others) =>
      (logins, operation, [intent, ...later]) =>
        others(logins, operation, [intent, ...later.map((one) => ({ ...one, login: "x" }))]),
    tests: inLedger("by the login that ordered it"),
  },
  {
    name: "others: what another login declared of a payout is not told of its corrected one",
    seam: "declared",
    decorate: (withDeclared) => (decision, request, facts) =>
      withDeclared(decision, request, { ...facts, replaced: [] }),
    tests: inLedger("is sent again with another"),
  },
  {
    name: "others: only the last reference is one that a new one replaces",
    seam: "declared",
    decorate: (withDeclared) => (decision, request, facts) =>
      withDeclared(decision, request, { ...facts, replaced: facts.replaced.slice(0, 1) }),
    tests: inLedger("is sent again with another"),
  },
  {
    name: "others: a shortened reference replaces none",
    seam: "sameOrder",
    decorate: (isOfSameOrder) => (one, other) =>
      !/^LD-.*-lenden/.test(other ?? "") && isOfSameOrder(one, other),
    tests: inLedger("with a long reference"),
  },
  {
    name: "others: who ordered the same since then knows of a payout that is itself sent again",
    seam: "declared",
    decorate: (withDeclared) => (decision, request, facts) => {
      const { declared, ...silent } = withDeclared(decision, request, facts);
      const isKnown = facts.similar.some(({ orderedAt }) => orderedAt > declared?.others.place);
      return declared && !isKnown ? { ...silent, declared } : silent;
    },
    tests: inLedger("another order tells nothing"),
  },
  {
    name: "others: a refund whose record differs is ended by another login without a word",
    seam: "declared",
    decorate: (withDeclared) => (decision, request, facts) => {
      const similar = facts.similar.map((one) =>
        one.others
          ? { ...one, others: { ...one.others, without: { ...one.others.without, code: null } } }
          : one,
      );
      return withDeclared(decision, request, { ...facts, similar });
    },
    tests: inLedger("whose record differed"),
  },
  {
    name: "others: who resolves a payout is told nothing of what others recorded",
    seam: "declaredBeside",
    decorate: () => () => undefined,
    tests: inLedger("is resumed with a warning"),
  },
  {
    name: "others: an older event of another login hides the newest",
    seam: "others",
    decorate: (others) => (logins, operation, history) => {
      const found = others(logins, operation, history);
      const [first] = history.filter(({ login }) => login !== logins.own);
      return found && { ...found, login: first.login, place: first.number };
    },
    tests: inLedger("whatever a third login recorded before"),
  },
  {
    name: "move: a batch is sent before its payouts are there",
    seam: "source",
    decorate: () => () => undefined,
    tests: ["test/ledger/move.test.ts", "-t", "before its payouts arrived"],
  },
];
