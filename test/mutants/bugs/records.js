const tests = (titles) => ["test/commands/record-differs.test.ts", "-t", titles];

/** Bugs of what a retrieved record proves (I14). */
export const recordBugs = [
  {
    name: "a payment or a refund is not compared with its record",
    seam: "recordConflict",
    decorate: (conflictIn) => (operation, record) =>
      operation.kind === "payout" ? conflictIn(operation, record) : undefined,
    tests: tests("of a payment ends"),
  },
  {
    name: "a record that still differs ends its conflict",
    seam: "shownRecord",
    decorate: (recordShown) => (operation, record, _, deps) =>
      recordShown(operation, record, undefined, deps),
    tests: tests("of a payment ends"),
  },
  {
    name: "a record that hides what differed ends its conflict",
    seam: "recordConflict",
    decorate: (conflictIn) => (operation, record) =>
      conflictIn({ ...operation, code: null }, record),
    tests: tests("does not end by"),
  },
  {
    name: "a refund whose record differs counts as what was requested",
    seam: "refundable",
    decorate: (refundableOf) => (refunds, paidPaisa) =>
      refundableOf(
        refunds.map((one) => ({ ...one, code: null })),
        paidPaisa,
      ),
    tests: tests("nothing more of its payment is refunded"),
  },
  {
    name: "a callback about a record that differs is verified",
    seam: "proof",
    decorate:
      (resolve) =>
      async (...asked) => ({ ...(await resolve(...asked)), conflict: undefined }),
    tests: tests("makes a callback unverified"),
  },
  {
    name: "a report counts a record that differs as what was requested",
    seam: "bucket",
    decorate: (bucketOf) => (operation, since) => bucketOf({ ...operation, code: null }, since),
    tests: tests("counts no record that differs"),
  },
  {
    name: "a report does not list what is not Completed any more",
    seam: "bucket",
    decorate: (bucketOf) => (operation, since) =>
      bucketOf({ ...operation, completedAt: null }, since),
    tests: tests("counts no record that differs"),
  },
  {
    name: "a final status changes in silence",
    seam: "finalStatus",
    decorate: () => () => false,
    tests: tests("warns with the time"),
  },
];
