const clean = (title) => ["test/batch/clean.test.ts", "-t", title];

/** Bugs of how a payroll is cleaned. */
export const payrollBugs = [
  {
    name: "payroll: a number is completed although the file has it on another line",
    seam: "completedNumbers",
    decorate:
      (find) =>
      async (...asked) =>
        (await find(...asked)).filter(({ problem }) => !problem.includes("also on line")),
    tests: clean("on another line"),
  },
  {
    name: "payroll: a number is completed although it was paid under another name",
    seam: "completedNumbers",
    decorate: (find) => (rows, payroll, rules) =>
      find(rows, payroll, { ...rules, namesPaid: async () => new Map() }),
    tests: clean("paid under another name"),
  },
  {
    name: "payroll: a total with a number beside it is paid",
    seam: "totalLabel",
    decorate: () => () => false,
    tests: clean("with a number beside it"),
  },
  {
    name: "payroll: dollars are BDT",
    seam: "cleanAmount",
    decorate: (read) => (cell, mark) =>
      read(typeof cell === "string" ? cell.replace("$", "") : cell, mark),
    tests: clean("another currency"),
  },
];
