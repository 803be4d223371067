import { override } from "../override.js";

const bounded = (title) => ["test/ledger/limits.test.ts", "-t", title];
const ofDay = "what was rejected, cancelled or not sent is free";
const inWindow = "a window of 24 hours, but for what is unknown";
const reserving = "reserves its rows until they are sent or cancelled";
const lastHeadroom = "the last headroom is taken once";
const ofAgents = "of agents, beside those of all";
const simulated = (title) => ["test/simulator/limits.test.ts", "-t", title];
const fixed = "200 fixed scenarios exceed no limit";

const clocks = (title) => ["test/commands/clocks.test.ts", "-t", title];
const beside = (title) => ["test/ledger/limits-of-logins.test.ts", "-t", title];

/** Bugs of limits (I13). */
export const limitBugs = [
  {
    name: "limits: claims of one commit take the headroom twice",
    seam: "claimKeys",
    decorate: (keysOf) => (claim) => keysOf(claim).filter((key) => key !== "limits"),
    tests: bounded("claims of one commit"),
  },
  {
    name: "limits: a limit is exceeded by the last paisa",
    seam: "excess",
    decorate: (excessOf) => (asked, facts, payee) =>
      excessOf({ ...asked, sumPaisa: asked.sumPaisa - 1n }, facts, payee),
    tests: bounded("of the refunds of a day"),
  },
  {
    name: "limits: a payout may be a paisa above its limit",
    seam: "excess",
    decorate: (excessOf) => (asked, facts, payee) =>
      excessOf({ ...asked, largestPaisa: asked.largestPaisa - 1n }, facts, payee),
    tests: bounded("P29: of one payout"),
  },
  {
    name: "limits: what was cancelled counts",
    seam: "mayHavePaid",
    decorate: (mayHavePaid) => (one) => one.status === "Cancelled" || mayHavePaid(one),
    tests: bounded(ofDay),
  },
  {
    name: "limits: what was rejected counts",
    seam: "mayHavePaid",
    decorate: (mayHavePaid) => (one) => one.state === "REFUSED" || mayHavePaid(one),
    tests: bounded(ofDay),
  },
  {
    name: "limits: what was freed is never subtracted",
    seam: "mayHavePaid",
    decorate: () => () => true,
    tests: bounded(ofDay),
  },
  {
    name: "limits: an unknown outcome does not count",
    seam: "counted",
    decorate: (counts) => (limit, use, payee) =>
      (use.takenAt !== null || use.batch !== undefined) && counts(limit, use, payee),
    tests: simulated(fixed),
  },
  {
    name: "limits: an unknown outcome counts for a day only",
    seam: "database",
    decorate: (database) =>
      rewriting(database, /o\.phase = 'unresolved' AND o\.state <> 'CONFIRMED'/, "false"),
    tests: bounded(inWindow),
  },
  {
    name: "limits: what is sent again counts from its first attempt",
    seam: "database",
    decorate: (database) => rewriting(database, /e\.event IN \('resumed', 'reopened'\)/, "false"),
    tests: bounded("what is sent again counts from then on"),
  },
  {
    name: "limits: a retry counts twice",
    seam: "claim",
    decorate: (decideClaim) => (request, facts) => {
      const decision = decideClaim(request, facts);
      const { limits, used } = facts.limits ?? {};
      const allowed = limits?.amounts.day;
      return decision.kind === "resumed" &&
        allowed !== undefined &&
        used.day + request.intent.amountPaisa > allowed
        ? { kind: "limits-missing" }
        : decision;
    },
    tests: bounded(lastHeadroom),
  },
  {
    name: "limits: the window is a millisecond too long",
    seam: "countedSince",
    decorate: (countedSince) => (nowMs) => countedSince(nowMs - 1),
    tests: bounded(inWindow),
  },
  {
    name: "limits: the window is a millisecond too short",
    seam: "countedSince",
    decorate: (countedSince) => (nowMs) => countedSince(nowMs + 1),
    tests: bounded(inWindow),
  },
  {
    name: "limits: what is told to be free is not free yet",
    seam: "endOfUse",
    decorate: () => (takenAt) => takenAt,
    tests: bounded(ofDay),
  },
  {
    name: "limits: a rejected payout makes its recipient known",
    seam: "database",
    decorate: (database) =>
      rewriting(database, /p\.phase = 'live' AND p\.accepted_at <=/g, "p.created_at <="),
    tests: bounded("does not make a recipient known"),
  },
  {
    name: "limits: a payout of today makes its recipient known",
    seam: "database",
    decorate: (database) => rewriting(database, /AND p\.accepted_at <=/g, "AND ' ' <"),
    tests: bounded("of a new recipient, until a payout was accepted a day ago"),
  },
  {
    name: "limits: planned rows are not reserved",
    seam: "database",
    decorate: (database) => rewriting(database, /b\.reserved_paisa > 0/g, "false"),
    tests: simulated("killed at any step stay reserved"),
  },
  {
    name: "limits: a row that is sent stays reserved",
    seam: "database",
    decorate: (database) => rewriting(database, /reserved_paisa - \+\?/, "reserved_paisa - 0 * +?"),
    tests: bounded(reserving),
  },
  {
    name: "limits: a row that was not sent is no longer reserved",
    seam: "database",
    decorate: (database) => rewriting(database, /\+\? \* r/, "min(+?, 0) * r"),
    tests: bounded(reserving),
  },
  {
    name: "limits: a file is judged by its largest row",
    seam: "excess",
    decorate: (excessOf) => (asked, facts, payee) =>
      excessOf({ ...asked, sumPaisa: asked.largestPaisa }, facts, payee),
    tests: bounded(reserving),
  },
  {
    name: "limits: what a clock that was ahead let through is sent",
    seam: "isAhead",
    decorate: () => () => false,
    tests: bounded("a clock that was ahead"),
  },
  {
    name: "limits: a payout that a clock ahead opened again counts as checked",
    seam: "isAhead",
    decorate: () => () => false,
    tests: clocks("opened again by a clock ahead"),
  },
  {
    name: "limits: what a clock ahead let through is resolved without a check",
    seam: "claimOfResumed",
    decorate: (claimOf) => (one, sealer) => {
      const claim = claimOf(one, sealer);
      return { ...claim, intent: { ...claim.intent, kind: "payment" } };
    },
    tests: clocks("sends no repeat that a clock ahead let through"),
  },
  {
    name: "P25: a clock that was ahead makes a payout younger",
    seam: "sendable",
    decorate: (sendableBy) => (trusted, operation, history) =>
      sendableBy(
        trusted,
        operation,
        history.filter(({ event }) => event !== "resumed"),
      ),
    tests: clocks("does not make a payout younger"),
  },
  {
    name: "limits: a clock that is set while a payout waits is not noticed",
    seam: "clockWatch",
    decorate: () => () => () => false,
    tests: clocks("is not sent once it is right"),
  },
  {
    name: "limits: a clock that is behind makes a payout older",
    seam: "timeOfOutcome",
    decorate: () => (_, at) => at,
    tests: bounded("a clock that is behind"),
  },
  {
    name: "limits: what a person reports as not created is free at once",
    seam: "reported",
    decorate: () => () => undefined,
    tests: bounded("counts for a day, and once if it is sent again"),
  },
  {
    name: "limits: what a person reports as not created may be repeated at once",
    seam: "reported",
    decorate: () => () => undefined,
    tests: bounded("repetition of what a person reports as not created"),
  },
  {
    name: "limits: a file may repeat at once what a person reports as not created",
    seam: "reportedSince",
    decorate: () => () => "false",
    tests: bounded("repetition of what a person reports as not created"),
  },
  {
    name: "limits: what was added without a seal is not judged",
    seam: "validSeal",
    decorate: () => () => true,
    tests: beside("added in the own login without a seal"),
  },
  {
    name: "limits: what was added as unknown is not judged",
    seam: "wasChecked",
    decorate: () => () => true,
    tests: beside("added in the own login without a seal is judged"),
  },
  {
    name: "limits: what another login copied with a seal is not judged",
    seam: "wasChecked",
    decorate: (wasChecked) => (same, request) => wasChecked({ ...same, orderedAt: 1 }, request),
    tests: beside("a payout that it copied with a seal of"),
  },
  {
    name: "limits: a plan that another login made is not judged again",
    seam: "database",
    decorate: (database) =>
      rewriting(database, /= 'plan' ORDER BY e\.number LIMIT/, "= 'none' LIMIT"),
    tests: beside("is judged when it is continued"),
  },
  {
    name: "limits: rows of a file are not judged that another login recorded",
    seam: "wasChecked",
    decorate: () => () => true,
    tests: beside("also if it recorded payouts of their references"),
  },
  {
    name: "limits: what is sent again counts twice",
    seam: "withoutUses",
    decorate: () => (facts) => facts,
    tests: beside("added in the own login without a seal is judged"),
  },
  {
    name: "limits: what another login reopened is not judged",
    seam: "others",
    decorate: (recordedByOthers) => (by, operation, history) => {
      const others = recordedByOthers(by, operation, history);
      return others && { ...others, isUnsettled: true };
    },
    tests: beside("that it reopened"),
  },
  {
    name: "limits: what another login declares is free",
    seam: "withoutOthers",
    decorate: () => (one) => one,
    tests: beside("what it declares"),
  },
  {
    name: "limits: a row is not judged that was not free when it was planned",
    seam: "freeStates",
    decorate: () => () => [],
    tests: bounded("when it was planned is judged when it is sent"),
  },
  {
    name: "limits: a row counts twice that is judged when it is sent",
    seam: "database",
    decorate: (database) => rewritingRows(database, /AS open_paisa/, { open_paisa: 2_000n }),
    tests: bounded("when it was planned is judged when it is sent"),
  },
  {
    name: "limits: a row is free that another login makes look not sent",
    seam: "withoutOthers",
    decorate: () => (one) => one,
    tests: beside("a row that it makes look not sent"),
  },
  {
    name: "limits: a payout is repeated after what another login records",
    seam: "withoutOthers",
    decorate: () => (one) => one,
    tests: beside("no payout is repeated within a day"),
  },
  {
    name: "limits: an operation that another login added as a test is sent",
    seam: "claim",
    decorate: (decideClaim) => (request, facts) =>
      decideClaim(request, { ...facts, isTest: facts.same?.command === "verify-api" }),
    tests: beside("is not sent as one that counts"),
  },
  {
    name: "limits: a record that is only like a refund frees it",
    seam: "reported",
    decorate: (reportedAt) => (history) =>
      reportedAt(history.filter(({ data }) => data.remoteId === undefined)),
    tests: bounded("may be of another refund"),
  },
  {
    name: "limits: an agent goes on after its limits were removed",
    seam: "limitDenial",
    decorate: () => () => undefined,
    tests: bounded("an agent sends no further row"),
  },
  {
    name: "limits: a row that two batches share is freed in one of them",
    seam: "database",
    decorate: (database) =>
      rewriting(
        database,
        /r\.reference = o\.reference GROUP/,
        "r.reference = o.reference AND r.batch = o.batch GROUP",
      ),
    tests: bounded("that two batches share"),
  },
  {
    name: "limits: a removed limit still holds",
    seam: "limits",
    decorate: (limitsAfter) => (changes) => limitsAfter(changes.filter(({ value }) => value)),
    tests: bounded("is rejected, if the profile had some"),
  },
  {
    name: "limits: the first change of a limit holds",
    seam: "limits",
    decorate: (limitsAfter) => (changes) => limitsAfter([...changes].reverse()),
    tests: bounded("repetition under a new reference"),
  },
  {
    name: "limits: what an agent sends counts as that of others",
    seam: "counted",
    decorate: (counts) => (limit, use, payee) => counts(limit, { ...use, isAgent: false }, payee),
    tests: bounded(ofAgents),
  },
  {
    name: "limits: refunds of an agent are not limited",
    seam: "excess",
    decorate: (excessOf) => (asked, facts, payee) =>
      excessOf({ ...asked, isAgent: asked.isAgent && asked.kind !== "refund" }, facts, payee),
    tests: bounded(ofAgents),
  },
  {
    name: "limits: one limit for agents is enough in production",
    seam: "limitDenial",
    decorate: (denialOf) => (limits, sender) =>
      denialOf({ ...limits, amounts: { "agent-day": 0n, ...limits.amounts } }, sender),
    tests: bounded("an agent sends neither in production"),
  },
  {
    name: "limits: an agent sends again in production without limits for agents",
    seam: "claim",
    decorate: (decideClaim) => (request, facts) =>
      decideClaim(request, facts.same ? { ...facts, limits: undefined } : facts),
    tests: bounded("an agent sends neither in production"),
  },
  {
    name: "limits: an agent sends what a person planned",
    seam: "database",
    decorate: (database) => rewritingRows(database, /\bFROM batches\b/, { actor: "agent" }),
    tests: bounded("nor what a person planned"),
  },
  {
    name: "limits: a ledger without limits is accepted, if the profile had some",
    seam: "limitDenial",
    decorate: (denialOf) => (limits, sender) =>
      denialOf(limits, { ...sender, expectsLimits: false }),
    tests: bounded("is rejected, if the profile had some"),
  },
  {
    name: "limits: a row repeats what others say was not paid",
    seam: "claim",
    decorate: (decideClaim) => (request, facts) =>
      decideClaim(request, request.batchId ? { ...facts, rejectsRepeats: undefined } : facts),
    tests: beside("rows repeat no payout for a day"),
  },
  {
    name: "limits: what others freed counts once with another key",
    seam: "paidAgain",
    decorate: () => () => false,
    tests: beside("counts twice with the next key"),
  },
  {
    name: "P25: what others freed is sent like a new payout",
    seam: "freedByOthers",
    decorate: () => () => false,
    tests: beside("is sent again as unknown"),
  },
  {
    name: "batch: a row repeats what was sent more than a day ago, since its plan",
    seam: "comparedSince",
    decorate: (comparedSince) => (_, nowMs) => comparedSince({}, nowMs),
    tests: beside("since a day before its plan"),
  },
];

/** Other SQL in each statement that has it. */
function rewriting(database, pattern, replacement) {
  return override(database, {
    prepare: (prepare) => (sql) => prepare(sql.replace(pattern, replacement)),
  });
}

/** Other columns in each row that is read by statements that match. */
function rewritingRows(database, pattern, values) {
  const changed = (row) => row && { ...row, ...values };
  return override(database, {
    prepare: (prepare) => (sql) => {
      const statement = prepare(sql);
      if (!pattern.test(sql)) return statement;
      return override(statement, {
        get:
          (get) =>
          (...given) =>
            changed(get(...given)),
        all:
          (all) =>
          (...given) =>
            all(...given).map(changed),
      });
    },
  });
}
