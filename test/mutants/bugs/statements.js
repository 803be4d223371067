/** Bugs of how a statement is read. */
export const statementBugs = [
  {
    name: "reconcile: the first line of money is the header",
    seam: "headingWithNumber",
    decorate: () => () => true,
    tests: ["test/reconcile/header.test.ts"],
  },
  {
    name: "reconcile: a direction is not read",
    seam: "direction",
    decorate: () => () => undefined,
    tests: ["test/reconcile/direction.test.ts"],
  },
  {
    name: "reconcile: every direction is out",
    seam: "direction",
    decorate: (read) => (text) => read(text) && "out",
    tests: ["test/reconcile/direction.test.ts"],
  },
  {
    name: "reconcile: words of directions among others are not read",
    seam: "directionWords",
    decorate: () => () => undefined,
    tests: ["test/reconcile/direction.test.ts"],
  },
  {
    name: "reconcile: a reversal is not read",
    seam: "directionWords",
    decorate: (read) => (text) => {
      const shown = read(text);
      return shown === "reversal" ? undefined : shown;
    },
    tests: ["test/reconcile/direction.test.ts"],
  },
  {
    name: "reconcile: dollars are BDT",
    seam: "otherCurrency",
    decorate: () => () => undefined,
    tests: ["test/reconcile/direction.test.ts"],
  },
];
