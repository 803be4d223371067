import { override, withValues } from "../override.js";

const rows = ["test/batch/send-safety.test.ts"];
const payout = (title) => ["test/operations/payout/send.test.ts", "-t", title];
const mixedUp = ["test/commands/mixed-up.test.ts"];

/** Bugs of how a payout is sent and compared, above the API client. */
export const payoutBugs = [
  {
    name: "an attempt that could not be signed ends the unknown outcome",
    seam: "attempts",
    decorate: (create) => async (order, attempts, deps) => {
      let unsigned;
      const client = override(deps.client, {
        createPayout: (send) => (input) =>
          send(input).catch((error) => {
            unsigned = error;
            throw error;
          }),
      });
      try {
        return await create(order, attempts, withValues(deps, { client }));
      } catch (error) {
        throw unsigned ?? error;
      }
    },
    tests: payout("P12: what keeps the second attempt"),
  },
  {
    name: "batch: a row counts as sent from when it began to wait",
    seam: "attempts",
    decorate: (create) => async (order, attempts, deps) => {
      const firstMs = deps.now();
      const sent = await create(order, attempts, deps);
      return isRow(attempts) ? { ...sent, firstMs } : sent;
    },
    tests: rows,
  },
  {
    name: "a row whose outcome is unknown is sent again without a comparison, however old its payout is",
    seam: "attempts",
    decorate: (create) => async (order, attempts, deps) => {
      const sent = await create(order, attempts, deps);
      const { operation, whyUnknown } = attempts;
      const isUnknown = isRow(attempts) && whyUnknown !== undefined;
      return isUnknown ? { ...sent, firstMs: Date.parse(operation.openedAt) } : sent;
    },
    tests: rows,
  },
  {
    name: "P15b: after a response for another reference a row is not compared",
    seam: "attempts",
    decorate: (create) => async (order, attempts, deps) => ({
      ...(await create(order, attempts, deps)),
      wasMixedUp: false,
    }),
    tests: rows,
  },
  {
    name: "a row's payout that may be older is taken for its own",
    seam: "maybeOlder",
    decorate: (mayBeOlder) => (createdAt, firstMs, deps) =>
      mayBeOlder(createdAt, firstMs - 5_000, deps),
    tests: rows,
  },
  {
    name: "batch: a time still to come is believed",
    seam: "maybeOlder",
    decorate: (mayBeOlder) => (createdAt, firstMs, deps) =>
      mayBeOlder(createdAt, firstMs, withValues(deps, { now: () => Number.POSITIVE_INFINITY })),
    tests: rows,
  },
  {
    name: "a payout of this run is called old where only the answer's Date is ahead",
    seam: "surelyOlder",
    decorate: (isOlder) => (createdAt, firstMs, deps) =>
      isOlder(createdAt, firstMs + Math.max(deps.clockAheadMs() ?? 0, 0), deps),
    tests: ["test/operations/age.test.ts"],
  },
  {
    name: "a resumed payout takes what is given now",
    seam: "claimAnswer",
    decorate: (check) => async (order, claim, ledger) => {
      const checked = await check(order, claim, ledger);
      if (checked.kind !== "resumed") return checked;
      const { recipientNumber, recipientName, description } = order;
      const asked = { ...checked.asked, recipientNumber, recipientName, description };
      return { ...checked, asked };
    },
    tests: payout("P9: resends the order"),
  },
  {
    name: "P6: a new reference is suggested for a payout that may have been paid",
    seam: "claimAnswer",
    decorate: (check) => (order, claim, ledger) => {
      if (claim.kind !== "different") return check(order, claim, ledger);
      const operation = { ...claim.operation, state: "CONFIRMED" };
      return check(order, { ...claim, operation }, ledger);
    },
    tests: mixedUp,
  },
  {
    name: "P15b: a record for another reference is a conflict",
    seam: "comparison",
    decorate: (compare) => (order, theirs) => {
      try {
        compare(order, theirs);
      } catch (error) {
        if (theirs.reference === order.reference) throw error;
        throw new error.constructor("conflict", error.message, error.details);
      }
    },
    tests: mixedUp,
  },
  {
    name: "the same person by another spelling is another person",
    seam: "payee",
    decorate: (payeeOf) => (recipient) =>
      /[^0-9+ -]/.test(recipient) ? recipient : payeeOf(recipient),
    tests: ["test/batch/plan.test.ts", "-t", "is the same recipient"],
  },
];

/** True for a payout that is a row of a batch. */
function isRow({ operation }) {
  return operation.batch !== null;
}
