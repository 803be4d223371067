import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { isMissing } from "../support/interpreters.ts";
import { expectedFile, programLine, torture } from "./torturing.ts";

const rounds = String(runs(1, 20));
const limitMs = 1_200_000;

/** How long the programs of the documentation wait for a response, in seconds. */
const patience = ["--env", "API_TIMEOUT=1"];

test.for(
  ["pay.php", "pay.py", "pay.mjs"].flatMap((name) => [[name, "1"] as const, [name, "2"] as const]),
)(
  "%s of the documentation passes rounds of every fault, in copies at once: %s",
  { timeout: limitMs },
  async ([name, parallel], { skip }) => {
    skip(isMissing(name));
    const file = expectedFile();
    const { code, stdout } = await torture(
      ...["--expect", file, "--results", "results.csv", "--rounds", rounds, "--seed", "5"],
      ...[...patience, "--parallel", parallel, "--timeout", "20m", "--json"],
      ...["--", ...programLine(name, file)],
    );
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      verdict: "passed",
      rounds: Number(rounds),
    });
  },
);

const payments = ["1,500", "2,300", "3,300", "4,9.5"].map((rest) => `payment,INV-${rest},`);
const refunds = ["1,100", "2,50", "3,70", "4,9"].map((rest) => `refund,INV-${rest},01712345678`);

test("callback-checked.mjs passes rounds of every fault", async () => {
  const file = expectedFile(...payments);
  const { code, stdout } = await torture(
    ...["--expect", file, "--results", "results.csv", "--rounds", rounds, "--seed", "5"],
    ...["--timeout", "20m", "--json", "--", ...programLine("callback-checked.mjs", file)],
  );
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, verdict: "passed" });
});

/** Four for each language; the first ones have every kind of failure. */
const samples = [
  ["new-reference.mjs", "paid-twice"],
  ["callback-believed.mjs", "wrong-belief"],
  ["float-amount.py", "wrong-amount"],
  ["other-text.php", "never-paid"],
  ["refund-repeated.mjs", "paid-twice"],
  ["timeout-is-failure.mjs", "wrong-belief"],
  ["reference-reused.py", "never-paid"],
  ["no-retry.py", "never-paid"],
  ["rejected-duplicate.py", "paid-twice"],
  ["created-is-paid.php", "wrong-belief"],
  ["marked-too-early.php", "never-paid"],
  ["earlier-status.php", "wrong-belief"],
] as const;

test.for(samples.slice(0, runs(5, samples.length)))(
  "%s is found with every fault: %s, and repeated by its seed",
  { timeout: limitMs },
  async ([name, kind], { skip }) => {
    skip(isMissing(name));
    const file = expectedFile(...ordersFor(name));
    const program = programLine(name, file);
    const results = kind === "wrong-belief" ? ["--results", "results.csv"] : [];
    const flags = ["--expect", file, ...results, ...patience, "--rounds", "3", "--seed", "3"];
    const found = await failuresOf(...flags, "--", ...program);
    const failure = found.find((one) => one.kind === kind);
    expect(failure?.orders[0]).toMatch(name.startsWith("refund") ? /^refund / : /^pay/);
    const [, , , ...repeated] = failure?.repeat.split(" ") ?? [];
    for (let count = runs(1, 10); count > 0; count -= 1) {
      const again = (await failuresOf(...repeated)).find((one) => one.kind === kind);
      expect(again?.orders).toContain(orderIn(failure));
    }
  },
);

function ordersFor(name: string): string[] {
  if (name.startsWith("refund"))
    return payments.flatMap((payment, at) => [payment, refunds[at] ?? ""]);
  return name.startsWith("callback") ? payments : [];
}

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
