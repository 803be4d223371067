import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgsStringToArgv } from "string-argv";
import { describe, expect, test } from "vitest";
import { scratchFolder, until } from "../support/helpers.ts";
import { ended, lenden, startBuilt } from "../support/lenden.ts";
import { expectedFile, programLine, torture } from "./torturing.ts";

const twoOrders = () =>
  expectedFile("payout,INV-1,500,01712345678", "payout,INV-2,0.29,01812345678");

test("a program with a new reference per attempt pays twice, and the trace repeats it", async () => {
  const file = twoOrders();
  const program = programLine("new-reference.mjs", file);
  const flags = ["--only", "lost-reply", "--rounds", "1", "--seed", "5", "--json"];
  const { code, stdout, error } = await torture("--expect", file, ...flags, "--", ...program);
  expect(code).toBe(11);
  expect(error).toMatchObject({ reason: "verification.failed" });
  const found = JSON.parse(stdout);
  expect(found).toMatchObject({ verdict: "failed", seed: 5, orders: 2, rounds: 1 });
  const [{ kind, message, trace, repeat }] = found.failures;
  expect(kind).toBe("paid-twice");
  expect(message).toMatch(/^\d of 2 orders (?:was|were) paid twice \(BDT .+\)\.$/);
  expect(trace.length).toBeLessThanOrEqual(12);
  expect(trace.join("\n")).toMatch(/createPayout INV-\d-\w+: no response \(fault lost-reply\)/);

  const [, , , ...repeated] = parseArgsStringToArgv(repeat);
  const again = await torture("--json", ...repeated);
  expect(again.code).toBe(11);
  expect(JSON.parse(again.stdout).failures[0].trace[0]).toBe(trace[0]);
});

test("a correct program passes, and the verdict says what was tried and what was not", async () => {
  const file = twoOrders();
  const report = join(scratchFolder(), "report.xml");
  const { code, stdout, stderr, temporary } = await torture(
    ...["--expect-first-round", "--results", "results.csv", "--junit", report, "--quiet"],
    ...["--only", "lost-reply", "--only", "status-500", "--rounds", "2", "--seed", "2"],
    ...["--", ...programLine("pay.mjs", file)],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("No failure found: each of 2 orders has one record in each round");
  expect(stdout).toMatch(/^Tried: 2 rounds, \d+ requests, \d+ faults \(seed 2\)\.$/m);
  expect(stdout).toMatch(/^Faults: (?:lost-reply \d+)?.*\.$/m);
  expect(stdout).toMatch(/^Not tested: callbacks .+; the faults that --only omits\.$/m);
  expect(readFileSync(report, "utf8")).toContain('tests="6" failures="0" errors="0" skipped="0"');
  expect(readdirSync(temporary)).toEqual([]);
});

test("a program that calls a payout failed after a timeout is found by what it believes", async () => {
  const file = twoOrders();
  const { code, stdout } = await torture(
    ...["--expect", file, "--results", "results.csv", "--rounds", "1", "--seed", "5"],
    ...["--only", "lost-reply", "--", ...programLine("timeout-is-failure.mjs", file)],
  );
  expect(code).toBe(11);
  expect(stdout).toMatch(
    /^\d that your program calls failed (?:(?:was|were) paid|(?:is|are) Processing)/,
  );
});

const payments = () =>
  expectedFile("payment,INV-1,500,", "payment,INV-2,300,", "payment,INV-3,70,", "payment,INV-4,9,");
const ofCallbacks = ["--only", "callback-forged", "--only", "callback-other"];

test("a program that believes callbacks is found, with one fault in its trace", async () => {
  const file = payments();
  const { code, stdout } = await torture(
    ...["--expect", file, "--results", "results.csv", "--rounds", "2", "--seed", "7", "--json"],
    ...[...ofCallbacks, "--", ...programLine("callback-believed.mjs", file)],
  );
  expect(code).toBe(11);
  const found = JSON.parse(stdout);
  expect(found.failures).toMatchObject([
    { kind: "wrong-belief", message: expect.stringMatching(/calls paid (?:is|are) Processing/) },
  ]);
  const [{ trace, repeat }] = found.failures;
  const faults = trace.filter((line: string) => line.includes("(fault "));
  expect(faults).toEqual([expect.stringMatching(/callback: your handler: HTTP 204 \(fault /)]);
  expect(repeat).toMatch(/ --rounds 1 --only callback-(?:forged|other) -- /);
});

test("a program that retrieves the payment passes, and other machines get no callbacks", async () => {
  const file = payments();
  const flags = ["--expect", file, "--results", "results.csv", "--rounds", "1", "--seed", "7"];
  const program = programLine("callback-checked.mjs", file);
  const here = await torture(...flags, ...ofCallbacks, "--json", "--", ...program);
  expect(here.code).toBe(0);
  expect(JSON.parse(here.stdout).callbacks).toBeGreaterThan(2);
  const elsewhere = [...program, "0.0.0.0"];
  const there = await torture(...flags, ...ofCallbacks, "--json", "--", ...elsewhere);
  expect(there.code).toBe(0);
  expect(JSON.parse(there.stdout)).toMatchObject({
    callbacks: 0,
    untested: expect.arrayContaining([expect.stringMatching(/^callbacks/)]),
  });
});

test("the last run of a round has no faults", async () => {
  const file = expectedFile();
  const flags = ["--expect", file, "--runs", "1", "--rounds", "1", "--seed", "5", "--json"];
  const { code, stdout } = await torture(...flags, "--", ...programLine("pay.mjs", file));
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, requests: 12, faults: {} });
});

test("the verdict names orders without a result, and a program that sent no request", async () => {
  const file = twoOrders();
  const script = 'printf "order,status\\nINV-1,unknown\\n" > "$LENDEN_TORTURE_DIR/r.csv"';
  const flags = ["--expect", file, "--results", "r.csv", "--rounds", "1", "--runs", "1"];
  const { code, stdout } = await torture(...flags, "--", "sh", "-c", script);
  expect(code).toBe(11);
  expect(stdout).toContain("what your program believes of INV-2 (no row in --results)");
  expect(stdout).toContain("No request reached LENDEN_BASE_URL.");
});

test("a report that cannot be written is known before the program runs", async () => {
  const proof = join(scratchFolder(), "ran");
  const flags = ["--expect", twoOrders(), "--junit", "/no/r.xml"];
  const { code, error } = await torture(...flags, "--json", "--", "touch", proof);
  expect([code, error]).toMatchObject([1, { message: expect.stringContaining("/no/r.xml") }]);
  expect(existsSync(proof)).toBe(false);
});

test("a report replaces no other file than an XML file", async () => {
  const file = twoOrders();
  const before = readFileSync(file, "utf8");
  const flags = ["--expect", file, "--junit", file, "--json"];
  const { code, error } = await torture(...flags, "--", "true");
  expect([code, error]).toMatchObject([
    2,
    { message: expect.stringContaining("is not an XML file") },
  ]);
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("a program of an agent is the agent's, whatever --env says", async () => {
  const proof = join(scratchFolder(), "actor");
  const script = `printf "$LENDEN_ACTOR" > ${proof}`;
  const flags = ["--env", "LENDEN_ACTOR=person", "--env", "CLAUDECODE=", "--rounds", "1"];
  await lenden(
    ["sandbox", "torture", "--expect", twoOrders(), ...flags, "--", "sh", "-c", script],
    { env: { CLAUDECODE: "1" } },
  );
  expect(readFileSync(proof, "utf8")).toBe("agent");
});

describe("sandbox torture rejects", () => {
  const file = twoOrders();
  test.each<[string, string[], string]>([
    ["a missing expectation", ["--", "true"], "use --expect <file> or --expect-first-round"],
    ["a missing command", ["--expect", file], "The command to run is missing"],
    [
      "an unknown placeholder",
      ["--expect", file, "--env", "API={base-url}", "--", "true"],
      "{base-url} is not one of: {base_url}, ",
    ],
    ["a program that does not exist", ["--expect", file, "--", "no-such-program"], "not found"],
    ["--before that fails", ["--expect", file, "--before", "exit 3", "--", "true"], "ended with 3"],
    [
      "bad rows",
      ["--expect", expectedFile("payout,,5,017"), "--", "true"],
      "Line 2: The order needs a letter",
    ],
    [
      "missing results",
      ["--expect", file, "--results", "r.csv", "--", "true"],
      "the program wrote no r.csv in round 1",
    ],
    ["an empty first round", ["--expect-first-round", "--", "true"], "created no payment"],
  ])("%s", async (_, args, message) => {
    const env = { PATH: process.env.PATH };
    const { code, stderr } = await lenden(["sandbox", "torture", ...args], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

test("each round starts with an empty directory, and --before and --env prepare it", async () => {
  const log = join(scratchFolder(), "log");
  const script =
    'echo "$LENDEN_TORTURE_ROUND $(ls "$LENDEN_TORTURE_DIR") $API $DB" >> "$1"; touch "$LENDEN_TORTURE_DIR/mine"';
  await torture(
    ...["--expect", twoOrders(), "--rounds", "2", "--before", 'touch "$LENDEN_TORTURE_DIR/ready"'],
    ...["--env", "API={base_url}/x", "--env", "DB={dir}/shop.db"],
    ...["--", "sh", "-c", script, "sh", log],
  );
  const line = (round: number) =>
    new RegExp(`^${round} ready http://127.0.0.1:\\d+/cp/api/v1/x /.+/shop.db$`);
  const lines = readFileSync(log, "utf8").trim().split("\n");
  expect(lines).toEqual([1, 2].map((round) => expect.stringMatching(line(round))));
});

test("a run ends after --run-timeout with its process group, and --timeout leaves no verdict", async () => {
  const pids = join(scratchFolder(), "pids");
  const hangs = ["sh", "-c", `sleep 300 & echo $! >> ${pids}; wait`];
  const file = twoOrders();
  const late = await torture(
    ...["--expect", file, "--run-timeout", "300ms", "--runs", "2", "--rounds", "1", "--", ...hangs],
  );
  expect(late).toMatchObject({ code: 11, stdout: expect.stringContaining("2 of 2 orders were") });
  expect(late.stdout).toContain("SIGKILL after 0.3 s (--run-timeout)");
  const none = await torture("--expect", file, "--timeout", "1s", "--json", "--", ...hangs);
  expect(none.code).toBe(11);
  expect(JSON.parse(none.stdout)).toMatchObject({ verdict: "undecided", rounds: 0 });
  const all = readFileSync(pids, "utf8").trim().split("\n").map(Number);
  expect(all).toHaveLength(3);
  await until(() => all.every((pid) => !isRunning(pid)));
});

test("after Ctrl-C, nothing is left running or on disk", async () => {
  const temporary = scratchFolder();
  const pid = join(scratchFolder(), "pid");
  const child = startBuilt(
    [
      ...["sandbox", "torture", "--expect", twoOrders(), "--"],
      ...["sh", "-c", `sleep 300 & echo $! > ${pid}; wait`],
    ],
    { TMPDIR: temporary },
  );
  await until(() => existsSync(pid) && readFileSync(pid, "utf8").endsWith("\n"));
  child.kill("SIGINT");
  expect(await ended(child)).toMatchObject({ code: 130 });
  await until(() => !isRunning(Number(readFileSync(pid, "utf8"))));
  expect(readdirSync(temporary)).toEqual([]);
});

test("Ctrl-C ends with what was found until then", async () => {
  const rounds = join(scratchFolder(), "rounds");
  const child = startBuilt([
    ...["sandbox", "torture", "--expect", twoOrders(), "--only", "lost-reply", "--json", "--"],
    ...["sh", "-c", `echo >> ${rounds}; [ $(wc -l < ${rounds}) -gt 8 ] && sleep 300; true`],
  ]);
  await until(() => existsSync(rounds) && readFileSync(rounds, "utf8").length > 8);
  child.kill("SIGINT");
  const { code, stdout } = await ended(child);
  expect([code, JSON.parse(stdout)]).toMatchObject([130, { verdict: "failed" }]);
});

/** A process that was killed may wait for its parent to notice. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
