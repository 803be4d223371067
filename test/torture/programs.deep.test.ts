import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { expectedFile, programLine, torture } from "./torturing.ts";

const rounds = String(runs(1, 20));
const limitMs = 1_200_000;

test.each([
  ["correct.mjs", "1"],
  ["correct.mjs", "2"],
  ["correct.py", "1"],
  ["correct.py", "2"],
])(
  "%s passes rounds of every fault, in copies at once: %s",
  async (name, parallel) => {
    const file = expectedFile();
    const { code, stdout } = await torture(
      ...["--expect", file, "--results", "results.csv", "--rounds", rounds, "--seed", "5"],
      ...["--parallel", parallel, "--timeout", "20m", "--json", "--", ...programLine(name, file)],
    );
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      verdict: "passed",
      rounds: Number(rounds),
    });
  },
  limitMs,
);

const payments = [
  "payment,INV-1,500,",
  "refund,INV-1,100,01712345678",
  "payment,INV-2,300,",
  "refund,INV-2,50,01812345678",
];

test.each([
  ["new-reference.mjs", "paid-twice"],
  ["refund-repeated.mjs", "paid-twice"],
  ["timeout-is-failure.mjs", "wrong-belief"],
  ["created-is-paid.mjs", "wrong-belief"],
  ["other-text.mjs", "never-paid"],
  ["float-amount.py", "wrong-amount"],
  ["reference-reused.py", "never-paid"],
  ["no-retry.py", "never-paid"],
  ["rejected-duplicate.py", "paid-twice"],
])(
  "%s is found with every fault: %s, and repeated by its seed",
  async (name, kind) => {
    const file = expectedFile(...(name.startsWith("refund") ? payments : []));
    const program = programLine(name, file);
    const results = kind === "wrong-belief" ? ["--results", "results.csv"] : [];
    const flags = ["--expect", file, ...results, "--rounds", "2", "--seed", "3"];
    const found = await failuresOf(...flags, "--", ...program);
    const failure = found.find((one) => one.kind === kind);
    expect(failure).toBeDefined();
    const [, , , ...repeated] = failure?.repeat.split(" ") ?? [];
    for (let count = runs(1, 10); count > 0; count -= 1) {
      const again = (await failuresOf(...repeated)).find((one) => one.kind === kind);
      expect(again?.orders).toContain(orderIn(failure));
    }
  },
  limitMs,
);

interface Failure {
  kind: string;
  orders: string[];
  trace: string[];
  repeat: string;
}

async function failuresOf(...args: string[]): Promise<Failure[]> {
  const { code, stdout } = await torture("--json", ...args);
  expect(code).toBe(11);
  return JSON.parse(stdout).failures;
}

/** For example `payout INV-1`, of the first line of a trace. */
function orderIn(failure: Failure | undefined): string | undefined {
  return /: (\w+ INV-\d)/.exec(failure?.trace[0] ?? "")?.[1];
}
