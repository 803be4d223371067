import { override, withBatches } from "../override.js";

const plan = ["test/batch/plan.test.ts"];
const twoAccounts = ["test/batch/accounts.test.ts", "-t", "two accounts in production"];

/** Bugs of what the ledger has of the payouts of a file or a plan. */
export const overlapBugs = [
  {
    name: "batch: rows that another batch is still to send are not looked for",
    seam: "ledger",
    decorate: findingOverlaps(({ kind }) => kind !== "planned"),
    tests: plan,
  },
  {
    name: "batch: a plan that is older than a day is not looked for",
    seam: "ledger",
    decorate: findingOverlaps(async ({ kind, batch }, { since, ledger }) => {
      if (kind !== "planned") return true;
      return (await ledger.batches.known({ id: batch })).batches[0]?.createdAt >= since;
    }),
    tests: plan,
  },
  {
    name: "batch: a payout whose outcome is unknown for more than a day is not looked for",
    seam: "ledger",
    decorate: findingOverlaps(
      ({ kind, at }, { since }) => kind !== "outcome-unknown" || at >= since,
    ),
    tests: plan,
  },
  {
    name: "batch: the day in which a recipient counts as paid begins with the first attempt",
    seam: "ledger",
    decorate: (ledger, { database }) =>
      override(ledger, {
        overlaps: askedAfter(
          database,
          "UPDATE operations SET accepted_at = created_at WHERE accepted_at IS NOT NULL",
        ),
      }),
    tests: plan,
  },
  {
    name: "batch: what another account of the environment paid is not looked for",
    seam: "ledger",
    decorate: findingOverlaps(({ isOwnAccount }) => isOwnAccount),
    tests: twoAccounts,
  },
  {
    name: "a batch in production counts one base URL alone",
    seam: "ledger",
    decorate: findingOverlaps(async ({ kind, reference, isOwnAccount }, { ledger, worker }) => {
      if (kind === "planned") return true;
      const find = isOwnAccount ? ledger.find : ledger.findElsewhere;
      return (await find(reference))?.baseUrl === worker.owner.baseUrl;
    }),
    tests: twoAccounts,
  },
  {
    name: "batch: what another account left rejected or with an unknown outcome is not looked for",
    seam: "ledger",
    decorate: (ledger) =>
      override(ledger, {
        references: (find) => async (references, asked) => {
          const found = await find(references, asked);
          const isFound = (one) => one.isOwnAccount || one.state === "CONFIRMED";
          return { ...found, payouts: await filtered(found.payouts, isFound) };
        },
      }),
    tests: twoAccounts,
  },
  {
    name: "batch: what is sent between the check and the plan is not looked for",
    seam: "ledger",
    decorate: (ledger) =>
      withBatches(ledger, {
        plan: (plan) => (batch, planning) => plan(batch, { ...planning, checkedUpTo: 2n ** 62n }),
      }),
    tests: plan,
  },
  {
    name: "batch: the rows of a cancelled batch keep their references",
    seam: "ledger",
    decorate: (ledger, { database }) => {
      const asked = askedAfter(database, "DELETE FROM events WHERE event = 'cancelled'");
      return override(ledger, {
        overlaps: asked,
        references: asked,
      });
    },
    tests: [...plan, "-t", "until their batch is cancelled"],
  },
];

/** A ledger that finds only some of the payouts that repeat a row. */
function findingOverlaps(isFound) {
  return (ledger, { worker }) =>
    override(ledger, {
      overlaps: (find) => async (rows, scope) =>
        filtered(await find(rows, scope), (one) => isFound(one, { ...scope, ledger, worker })),
    });
}

/** The lists of a map without some of their items. */
async function filtered(lists, isWanted) {
  const kept = new Map();
  for (const [key, items] of lists) {
    const wanted = await Promise.all(items.map(isWanted));
    kept.set(
      key,
      items.filter((_, index) => wanted[index]),
    );
  }
  return kept;
}

/** Asks the ledger as if it had been changed, and takes the change back. Nothing else may use the database meanwhile. */
function askedAfter(database, change) {
  return (ask) =>
    async (...asked) => {
      database.exec("SAVEPOINT asked");
      try {
        database.exec(change);
        return await ask(...asked);
      } finally {
        database.exec("ROLLBACK TO asked; RELEASE asked");
      }
    };
}
