import { createHash } from "node:crypto";
import { override, withBatches, withValues } from "../override.js";

const safety = (title) => ["test/batch/send-safety.test.ts", "-t", title];
const plan = ["test/batch/plan.test.ts"];
const roundTrip = ["test/batch/round-trip.test.ts"];
const identity = ["test/batch/identity.test.ts"];
const columns = ["test/batch/columns.test.ts"];
const payrolls = ["test/batch/payrolls.test.ts"];
const sealed = ["test/commands/sealed-batch.test.ts"];

/** Bugs of batches: how a file is checked, planned, sent, resumed and exported. */
export const batchBugs = [
  {
    name: "batch: the same payout in the file, written otherwise, is not found",
    seam: "fileFindings",
    decorate: (find) => (rows) =>
      find(rows).filter((finding) => {
        if (finding.kind !== "same-recipient-in-file") return true;
        const repeated = rows.find(({ line }) => line === finding.line);
        return rows.some(
          ({ line, recipient, amountPaisa }) =>
            line < finding.line &&
            recipient === repeated.recipient &&
            amountPaisa === repeated.amountPaisa,
        );
      }),
    tests: identity,
  },
  {
    name: "batch: a reference whose payout was cancelled may be used in another file",
    seam: "ledgerFindings",
    decorate: withoutFindings(
      ({ kind, ended }) => kind === "reference-ended" && ended === "Cancelled",
    ),
    tests: roundTrip,
  },
  {
    name: "batch: a row that an export shows as sent is sent by the reference that a spreadsheet made",
    seam: "ledgerFindings",
    decorate: withoutFindings(({ kind }) => kind === "sent-but-unknown"),
    tests: ["test/batch/spreadsheet.test.ts"],
  },
  {
    name: "batch: what another account sent since the plan is not looked for",
    seam: "openRows",
    decorate: withoutFindings(
      ({ kind, state }) => kind === "used-in-other-account" && state !== "CONFIRMED",
    ),
    tests: ["test/batch/accounts.test.ts", "-t", "two accounts in production"],
  },
  {
    name: "batch: to accept one duplicate accepts any number",
    seam: "laterFindings",
    decorate: (hasMore) => (now, shown) =>
      hasMore(shown.seen.size > 0 ? { ...now, seen: shown.seen } : now, shown),
    tests: plan,
  },
  {
    name: "batch: recipients that were paid since the plan are not looked for",
    seam: "resumedBatch",
    decorate: (resume) => (planned, compare, choices, ordering) =>
      resume(planned, compare, { ...choices, allowDuplicates: true }, ordering),
    tests: ["test/commands/batch.test.ts", "-t", "on resuming who was paid meanwhile"],
  },
  {
    name: "batch: the references of a file without them depend on its order",
    seam: "identity",
    decorate: (identify) => (rows, hasReferences, ownName) => {
      const found = identify(rows, hasReferences, ownName);
      if (found === undefined || hasReferences) return found;
      for (const row of rows) {
        const hash = createHash("sha256").update(`${row.reference} ${row.row}`).digest("base64url");
        row.reference = `LD-${hash.slice(0, 32)}`;
      }
      return found;
    },
    tests: identity,
  },
  {
    name: "batch: the same rows in another file are another batch",
    seam: "batchOfFile",
    decorate: (find) => (file, rows, ledger) =>
      find(file, rows, withBatches(ledger, { known: () => async () => ({ batches: [] }) })),
    tests: identity,
  },
  {
    name: "batch: a finished batch is paid again with the rows that were added to its file",
    seam: "batchOfFile",
    decorate: (find) => async (file, rows, ledger) => {
      try {
        return await find(file, rows, ledger);
      } catch (error) {
        if (/has all rows of/.test(error.message)) return undefined;
        throw error;
      }
    },
    tests: [...identity, "-t", "all rows of a finished batch"],
  },
  {
    name: "batch: a file is compared with the newest batches alone",
    seam: "batchOfFile",
    decorate: (find) => (file, rows, ledger) =>
      find(file, rows, withBatches(ledger, { plansWithin: comparing((place) => place < 500) })),
    tests: [...identity, "-t", "however many batches are newer"],
  },
  {
    name: "batch: a file is compared with batches of its own account alone",
    seam: "batchOfFile",
    decorate: (find) => (file, rows, ledger) =>
      find(
        file,
        rows,
        withBatches(ledger, {
          plansWithin: comparing((_, { otherAccount }) => otherAccount === null),
        }),
      ),
    tests: [...identity, "-t", "another production account finished"],
  },
  {
    name: "batch: the states of its rows decide unchecked",
    seam: "batchOfFile",
    decorate: (find) => (file, rows, ledger) =>
      find(
        file,
        rows,
        withBatches(ledger, {
          recordedTally: () => (batch) => ledger.batches.tally(batch),
          recordedRows: () => (plan, set) => ledger.batches.rowsAsRead(plan, set),
        }),
      ),
    tests: ["test/ledger/colleague.test.ts", "-t", "and a file with all rows"],
  },
  {
    name: "batch: a changed file of an unfinished batch is a new batch",
    seam: "whichBatch",
    decorate: (which) => (file, known, facts) =>
      which(file, { ...known, unfinished: undefined }, facts),
    tests: ["test/commands/batch.test.ts", "-t", "other rows under the name"],
  },
  {
    name: "batch: the file of a cancelled batch is a new batch",
    seam: "whichBatch",
    decorate: (which) => (file, known, facts) => {
      const batches = known.batches.filter(({ cancelledAt }) => cancelledAt === null);
      return which(file, { ...known, batches }, facts);
    },
    tests: identity,
  },
  {
    name: "batch: two files of one name are planned by two processes",
    seam: "ledger",
    decorate: (ledger) =>
      withBatches(ledger, {
        claim: (claim) => (file) => claim(file, isNew),
        plan: (plan) => (batch, planning) => plan(batch, { ...planning, which: isNew }),
      }),
    tests: ["test/ledger/batches.test.ts", "-t", "is decided again"],
  },
  {
    name: "batch: other flags of a planned file are ignored",
    seam: "rowsOfBatch",
    decorate: () => async () => true,
    tests: [...columns, "-t", "are those of the plan"],
  },
  {
    name: "batch: the plan of a known file is not compared with the file",
    seam: "rowsOfBatch",
    decorate: () => async () => true,
    tests: [...sealed, "-t", "planted batch is not sent"],
  },
  {
    name: "batch: a plan of others is sealed whatever time it has",
    seam: "resumedBatch",
    decorate:
      (resume) =>
      (batch, compare, choices, { ledger, sealer }) => {
        const unchecked =
          (seal) =>
          (plan, ...how) =>
            seal({ ...plan, isSealed: true }, ...how);
        const changed = withBatches(ledger, { seal: unchecked });
        return resume(batch, compare, choices, { ledger: changed, sealer });
      },
    tests: ["test/ledger/colleague.test.ts", "-t", "a time to come"],
  },
  ...["columns", "method"].map((part) => ({
    name: `batch: the ${part} of a plan of others are not compared with the file`,
    seam: "rowsOfBatch",
    decorate: (hasSameRows) => async (plan, file, rows, ledger) => {
      if (part === "columns") return hasSameRows(plan, { name: file.name }, rows, ledger);
      const methods = new Map();
      for await (const { reference, method } of ledger.batches.rows(plan.batch, "all"))
        methods.set(reference, method);
      const own = rows.map((row) => ({ ...row, method: methods.get(row.reference) ?? row.method }));
      return hasSameRows(plan, file, own, ledger);
    },
    tests: [
      "test/ledger/colleague.test.ts",
      "-t",
      part === "columns" ? "other columns" : "another method by its name",
    ],
  })),
  {
    name: "batch: a plan that anyone made counts as ordered",
    seam: "ledger",
    decorate: (ledger) =>
      withBatches(ledger, {
        readPlan:
          (read) =>
          async (...asked) => ({ ...(await read(...asked)), isSealed: true }),
      }),
    tests: sealed,
  },
  {
    name: "batch: a paid batch that anyone cancelled is paid again by a file with more rows",
    seam: "ledger",
    decorate: (ledger) =>
      withBatches(ledger, {
        plansWithin: (read) =>
          async function* (most) {
            for await (const found of read(most)) if (found.batch.cancelledAt === null) yield found;
          },
      }),
    tests: ["test/ledger/batch-reads.test.ts", "-t", "found by the rows that a file may have"],
  },
  {
    name: "batch: any modification of an accepted ledger is accepted",
    seam: "worker",
    decorate: (worker) => ({
      ...worker,
      acceptedRows: worker.acceptedRows && { includes: () => true },
    }),
    tests: ["test/ledger/modified.test.ts", "-t", "after a later modification"],
  },
  {
    name: "batch: duplicates that anyone accepted are sent",
    seam: "resumedBatch",
    decorate: (resume) => (planned, compare, choices, ordering) => {
      const allowed = { ...choices, allowDuplicates: true };
      return resume(planned, compare, compare ? allowed : choices, ordering);
    },
    tests: [...sealed, "-t", "accepts no duplicates"],
  },
  {
    name: "batch: a row that changed while the batch is sent is sent as it is now",
    seam: "ledger",
    decorate: (ledger) =>
      withBatches(ledger, {
        rowsAsRead:
          () =>
          ({ batch }, set) =>
            ledger.batches.rows(batch, set),
      }),
    tests: ["test/ledger/batches.test.ts", "-t", "gives no row of a page"],
  },
  {
    name: "batch: an edited batch is believed",
    seam: "changedColumns",
    decorate: () => () => [],
    tests: ["test/ledger/batches.test.ts", "-t", "is not claimed with another"],
  },
  {
    name: "batch: a file whose header has a problem is sent",
    seam: "header",
    decorate: (read) => (cells, delimiter, choices) => ({
      ...read(cells, delimiter, choices),
      problems: [],
    }),
    tests: [...payrolls, "-t", "is rejected"],
  },
  {
    name: "batch: the rows that a workbook hides are paid without a decision",
    seam: "payrollRows",
    decorate:
      (read) =>
      (source, ...more) =>
        read({ ...source, hidden: source.hidden ?? "include" }, ...more),
    tests: [...payrolls, "-t", "hidden rows need a decision"],
  },
  {
    name: "batch: a number of a workbook is read as a mobile number",
    seam: "payeeCell",
    decorate: (read) => (cell, isRocket) =>
      read(typeof cell === "string" ? cell : cell.text.padStart(11, "0"), isRocket),
    tests: [...payrolls, "-t", "a number is never a mobile number"],
  },
  {
    name: "batch: a cancelled batch is sent",
    seam: "ledger",
    decorate: (ledger) => {
      const uncancelled =
        (claim) =>
        async (...asked) => {
          const answer = await claim(...asked);
          if (answer.kind !== "cancelled") return answer;
          return { kind: "ours", batch: { ...answer.batch, cancelledAt: null } };
        };
      return withBatches(ledger, { claim: uncancelled, claimPlanned: uncancelled });
    },
    tests: ["test/commands/batch-cancel.test.ts"],
  },
  {
    name: "batch: rows are sent before their commit",
    seam: "commits",
    decorate: (share) => (ledger, soon) =>
      share(
        override(ledger, {
          change: (change) => async (requests) => {
            const early = await Promise.all(requests.map((one) => answerBefore(one, ledger)));
            return change(requests).catch(() => early);
          },
        }),
        soon,
      ),
    tests: safety("I1:"),
  },
  {
    name: "batch: after a failed commit it continues",
    seam: "commits",
    decorate: (share) => (ledger, soon) => {
      let shared = share(ledger, soon);
      const renewed = (name) => () => (request) =>
        shared[name](request).catch((error) => {
          shared = share(ledger, soon);
          throw error;
        });
      const names = ["change", "claim", "record", "learn", "resume"];
      return override(shared, Object.fromEntries(names.map((name) => [name, renewed(name)])));
    },
    tests: safety("I4: sends nothing after a failed commit"),
  },
  {
    name: "batch: a ledger error is swallowed",
    seam: "batch",
    decorate: (send) => async (sending, deps) => {
      const reason = await send(sending, deps);
      return reason?.kind === "internal" ? undefined : reason;
    },
    tests: safety("I4"),
  },
  {
    name: "batch: rows whose outcome is unknown are omitted",
    seam: "batch",
    decorate: (send) => async (sending, deps) => {
      const { plan, ledger, onRow } = sending;
      for await (const row of ledger.batches.rows(plan.batch, "unknown")) onRow(row, "uncertain");
      return send({ ...sending, hasUnknown: false }, deps);
    },
    tests: safety("P16"),
  },
  {
    name: "batch: a conflict does not stop it",
    seam: "batch",
    decorate: (send) => async (sending, deps) => {
      let reason = await send(sending, deps);
      while (reason?.kind === "conflict") reason = await send(sending, deps);
      return reason;
    },
    tests: safety("P15"),
  },
  {
    name: "batch: rows in flight do not rest after a death",
    seam: "row",
    decorate: (send) => (planned, deps) => {
      const { restsSinceMs } = planned;
      const isDead = restsSinceMs !== undefined;
      return send(isDead ? { ...planned, restsSinceMs: restsSinceMs - 10_000 } : planned, deps);
    },
    tests: safety("P9, I3"),
  },
  {
    name: "batch: a row in flight is sent again at once after a death",
    seam: "row",
    decorate: (send) => (planned, deps) => {
      const { claim } = planned;
      if (claim.kind !== "resumed") return send(planned, deps);
      const longAgo = new Date(0).toISOString();
      const operation = { ...claim.operation, holder: null, updatedAt: longAgo };
      return send({ ...planned, claim: { ...claim, operation } }, deps);
    },
    tests: safety("P9, I3"),
  },
  {
    name: "batch: a row whose outcome is unknown is sent after a day",
    seam: "throttle",
    decorate: (create) => (options, deps) =>
      override(create(options, deps), {
        slotOf: (slotOf) => (worker) => slotOf(withValues(worker, { unknownSince: undefined })),
      }),
    tests: ["test/batch/send-safety.test.ts"],
  },
  {
    name: "batch: the next row is sent before the last response was judged",
    seam: "throttle",
    decorate: (create) => (options, deps) =>
      override(create(options, deps), {
        slotOf: (slotOf) => (worker) => {
          const slot = slotOf(worker);
          const createPayout = (create) => async (input) => {
            const answer = await create(input);
            slot.free();
            return answer;
          };
          return { ...slot, client: override(slot.client, { createPayout }) };
        },
      }),
    tests: ["test/batch/reserve.test.ts", "-t", "row that waits"],
  },
  {
    name: "batch: the reserve grows beyond the concurrency",
    seam: "workers",
    decorate: (create) => (options) =>
      create({ ...options, concurrency: options.concurrency * 1.5 }),
    tests: ["test/batch/reserve.test.ts", "-t", "P9"],
  },
  {
    name: "batch: what its reference was used for counts as the row",
    seam: "ledger",
    decorate: (ledger) =>
      withBatches(ledger, {
        rows: (rows) => (batch, set) => ofReferences(rows(batch, set), ledger),
        tally: () => (batch) => tallyOf(ofReferences(ledger.batches.rows(batch, "all"), ledger)),
      }),
    tests: ["test/crash/batch-stops.test.ts", "-t", "I5, I8"],
  },
  {
    name: "batch: a row without access gets a new reference when it is exported",
    seam: "retryPlan",
    decorate: (open) => async (batch, ledger) => {
      const planOf = await open(batch, ledger);
      return (row) =>
        planOf(row.code === "access" ? { ...row, state: "REFUSED", code: "refused" } : row);
    },
    tests: safety("P18"),
  },
  {
    name: "batch: a row and the row that replaces it in the same file are both sent again",
    seam: "retryPlan",
    decorate: (open) => (batch, ledger) =>
      open(
        batch,
        withBatches(ledger, {
          newReferences: (find) => async (one) => {
            const open = [];
            for (const reference of await find(one))
              if (!isUsedUp(await ledger.find(reference))) open.push(reference);
            return open;
          },
        }),
      ),
    tests: roundTrip,
  },
  {
    name: "batch: a row that was sent again by a new reference is sent again by the next one",
    seam: "retryPlan",
    decorate: (open) => (batch, ledger) => {
      const asUsedUp = (find) => async (name) => {
        const found = await find(name);
        return found && { ...found, state: "REFUSED", code: "refused" };
      };
      return open(batch, override(ledger, { find: asUsedUp }));
    },
    tests: roundTrip,
  },
  {
    name: "batch: a row whose payout was cancelled does not count as failed",
    seam: "rowStatus",
    decorate: (statusOf) => (row) => {
      const status = statusOf(row);
      return status === "cancelled" ? "processing" : status;
    },
    tests: ["test/commands/batch.test.ts", "-t", "each row is Completed or Cancelled"],
  },
];

/** Drops some findings of the ledger about rows. */
function withoutFindings(isHidden) {
  return (ask) =>
    async (...asked) => {
      const found = await ask(...asked);
      return { ...found, findings: found.findings.filter((one) => !isHidden(one)) };
    };
}

/** The answer to a request if its commit succeeds. */
async function answerBefore(request, ledger) {
  if (request.kind !== "claim") return { kind: "recorded" };
  const decision = await ledger.preview(request);
  if (decision.kind !== "new") return decision;
  const operation = { ...request.intent, number: 0n, id: "OP", state: "INTENT", openedAt: "" };
  return { kind: "new", operation, earlier: decision.earlier };
}

/** Decides that a file is no known batch. */
const isNew = () => ({ kind: "new" });

/** The rows of a batch with the states of their references, whatever these were used for. */
async function* ofReferences(rows, ledger) {
  for await (const row of rows) {
    const used = row.state === "CONFLICT" ? await ledger.find(row.reference) : undefined;
    yield used ? { ...row, state: used.state } : row;
  }
}

/** Rows by state and status, as the ledger counts them. */
async function tallyOf(rows) {
  const tallies = new Map();
  for await (const { state, status, amountPaisa } of rows) {
    const key = JSON.stringify([state, status]);
    const { count, sumPaisa } = tallies.get(key) ?? { count: 0, sumPaisa: 0n };
    const sentBefore = { count: 0, sumPaisa: 0n };
    const sum = { count: count + 1, sumPaisa: sumPaisa + amountPaisa };
    tallies.set(key, { state, status, ...sum, sentBefore });
  }
  return [...tallies.values()];
}

/** True if nothing was created by a reference and it is never sent again. */
function isUsedUp({ state, status, code }) {
  return state === "REFUSED" ? code !== "access" : state === "CONFIRMED" && status === "Cancelled";
}

/** Compares a file with some of the plans. */
function comparing(isCompared) {
  return (plansWithin) =>
    async function* (most) {
      let place = 0;
      for await (const found of plansWithin(most)) {
        if (isCompared(place, found)) yield found;
        place += 1;
      }
    };
}
