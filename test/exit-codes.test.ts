import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exits, type FailureKind } from "../src/domain/failure.ts";
import type { Host, Signal } from "../src/platform/host.ts";
import { openDatabase } from "../src/platform/sqlite/open.ts";
import { type RunningSandbox, startSandbox } from "../src/sandbox/server.ts";
import { scratchFolder } from "./support/helpers.ts";
import { lenden, type Outcome, startBuilt } from "./support/lenden.ts";
import { closedPort, refusal, serve, success } from "./support/server.ts";

let sandbox: RunningSandbox;
let env: Record<string, string>;

beforeAll(async () => {
  sandbox = await startSandbox({ now: Date.now });
  env = envOf(sandbox.baseUrl);
});

afterAll(() => sandbox.close());

const payout = "payout send --amount 5 --to 01712345678 --method-id 665f1c2ab8e4".split(" ");

test("0: done, and nothing is on stderr", async () => {
  const { code, stdout, stderr } = await lenden(["methods", "--json"], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toHaveLength(3);
});

test("1: a fault of this machine", async () => {
  const taken = new URL(sandbox.baseUrl).port;
  expectEnding(
    await lenden(["sandbox", "start", "--port", taken, "--json"], { env }),
    1,
    "internal",
  );
});

test("1: a fault of lenden itself shows no stack, and says how to see it", async () => {
  const host = { randomBytes: () => bang() };
  const outcome = await lenden([...payout, "--json"], { env, host });
  const { message } = expectEnding(outcome, 1, "internal");
  expect(outcome.stderr + message).not.toMatch(/bang|at .*\.ts/);
});

test.each([
  ["an unknown command", ["metods"]],
  ["an unknown flag", ["methods", "--all"]],
  ["an amount that is none", [...payout.with(3, "1,250")]],
  ["flags that contradict each other", ["methods", "--timeout", "1s", "--timeout", "2s"]],
  ["what is missing", ["pay", "create"]],
])("2: %s", async (_, line) => {
  expectEnding(await lenden([...line, "--json"], { env }), 2, "usage");
});

test("3: the service refuses", async () => {
  const server = await serve(() => refusal(422, { message: "too much", code: "LIMIT" }));
  const outcome = await lenden([...payout, "--ref", "R", "--json"], { env: envOf(server.baseUrl) });
  const { status, code } = expectEnding(outcome, 3, "refused");
  expect([status, code]).toEqual([422, "LIMIT"]);
});

test("3: a payment that is not Completed is not paid back", async () => {
  const id = await quiet("pay create --amount 5 --description x --method bkash".split(" "));
  const refund = [
    "refund",
    "create",
    "--payment",
    id,
    "--amount",
    "5",
    "--account-type",
    "personal",
  ];
  const outcome = await lenden([...refund, "--account-number", "1", "--json"], { env });
  expectEnding(outcome, 3, "refused");
});

test.each<[string, Record<string, string | undefined>, string[]]>([
  ["no key", { LENDEN_API_KEY: undefined }, ["methods"]],
  ["an unknown key", { LENDEN_API_KEY: "sk_sandbox_AAA-000000000000-AAA" }, ["methods"]],
  ["no secret", { LENDEN_PAYOUT_SECRET: undefined }, payout],
  ["a wrong secret", { LENDEN_PAYOUT_SECRET: "wrong" }, [...payout, "--ref", "R4"]],
  ["a production key on http:", { LENDEN_API_KEY: "public-AAA-000000000000-AAA" }, ["methods"]],
  ["a profile that there is not", { LENDEN_PROFILE: "shop" }, ["methods"]],
])("4: %s", async (_, changes, line) => {
  const outcome = await lenden([...line, "--json"], { env: { ...env, ...changes } });
  expectEnding(outcome, 4, "access");
});

test("4: a production write that nobody confirmed", async () => {
  const production = {
    LENDEN_BASE_URL: "https://service.invalid",
    LENDEN_API_KEY: "public-AAA-000000000000-AAA",
    LENDEN_PAYOUT_SECRET: "s",
  };
  const outcome = await lenden([...payout, "--ref", "R", "--json"], { env: production });
  expectEnding(outcome, 4, "access");
});

test("4: a clock that is five minutes off, and nothing is sent", async () => {
  const server = await serve(({ path }) =>
    path === "/payment/methods"
      ? {
          do: "answer",
          headers: { date: new Date(Date.now() + 300_000).toUTCString() },
          body: '{"success":true,"data":[{"id":"m","providerName":"P","codeName":"c"}]}',
        }
      : success({}),
  );
  const byName = [...payout.slice(0, -2), "--method", "c", "--ref", "R", "--json"];
  expectEnding(await lenden(byName, { env: envOf(server.baseUrl) }), 4, "access");
  expect(server.count("/payout/create-by-server")).toBe(0);
});

test("5: the reference is another payout's", async () => {
  await quiet([...payout, "--ref", "R5"]);
  const outcome = await lenden([...payout.with(3, "6"), "--ref", "R5", "--json"], { env });
  expect(expectEnding(outcome, 5, "conflict").operation).toBe("R5");
});

test.each([
  ["pay get", "TX0"],
  ["payout get", "PO0"],
  ["refund get", "RF0"],
  ["sandbox trigger payment", "TX0"],
])("9: %s of an unknown id", async (command, id) => {
  const outcome = await lenden([...command.split(" "), id, "--json"], { env });
  const { operation, status } = expectEnding(outcome, 9, "not-found");
  expect([operation, status]).toEqual([id, 404]);
});

test("11: a signature that does not match, with the answer on stdout all the same", async () => {
  const line = ["payout", "verify", "--amount", "5", "--ref", "R", "--timestamp", "1763614800"];
  const { stdout, ...outcome } = await lenden([...line, "--signature", "00", "--json"], { env });
  expect(JSON.parse(stdout).matches).toBe(false);
  expectEnding({ ...outcome, stdout: "" }, 11, "unverified");
  expect(exits.unverified.code).toBe(11);
});

test("69: nobody listens", async () => {
  const nowhere = envOf(`http://127.0.0.1:${await closedPort()}/cp/api/v1`);
  for (const line of [["methods"], [...payout, "--ref", "R", "--timeout", "1s"]]) {
    const outcome = await lenden([...line, "--json"], { env: nowhere });
    expectEnding(outcome, 69, "unreachable");
  }
});

test("75: a page of something in front of the service says that it is closed", async () => {
  const body = "<html><h1>499 Client Closed Request</h1></html>";
  const server = await serve(() => ({ do: "answer", status: 499, body }));
  const line = [...payout, "--ref", "R499", "--timeout", "2s", "--json"];
  const outcome = await lenden(line, { env: envOf(server.baseUrl) });
  expectEnding(outcome, 75, "uncertain");
  expect(server.count("/payout/create-by-server")).toBeGreaterThan(1);
  expect(new Set(server.asked.map((one) => JSON.parse(one.body).merchantRef))).toEqual(
    new Set(["R499"]),
  );
});

test("75: the answer never comes", async () => {
  const server = await serve(() => ({ do: "silence" }));
  const line = [...payout, "--ref", "R75", "--timeout", "1s", "--json"];
  const outcome = await lenden(line, { env: envOf(server.baseUrl) });
  const { operation, hint } = expectEnding(outcome, 75, "uncertain");
  expect([operation, hint?.includes("--ref R75")]).toEqual(["R75", true]);
});

test.each<[Signal, number]>([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("%s in a read is %i", async (name, code) => {
  let stop: (name: Signal) => void = () => {};
  const server = await serve(() => {
    stop(name);
    return { do: "silence" };
  });
  const outcome = await lenden(["methods"], {
    env: envOf(server.baseUrl),
    onStart: (signal) => {
      stop = signal;
    },
  });
  expect(outcome).toEqual({ code, stdout: "", stderr: "" });
});

test.each<[Signal, number]>([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("%s in a read is %i, of the built tool too", async (name, code) => {
  const server = await serve(() => ({ do: "silence" }));
  const child = startBuilt(["methods"], envOf(server.baseUrl));
  const ended = new Promise((resolve) => child.on("exit", (...how) => resolve(how)));
  while (server.count() === 0) await delay(20);
  child.kill(name);
  expect(await ended).toEqual([code, null]);
});

test("a second SIGINT leaves a payout in flight: 75, not 130", async () => {
  let stop: (name: Signal) => void = () => {};
  const server = await serve(() => {
    stop("SIGINT");
    stop("SIGINT");
    return { do: "silence" };
  });
  const outcome = await lenden([...payout, "--ref", "R", "--json"], {
    env: envOf(server.baseUrl),
    onStart: (signal) => {
      stop = signal;
    },
  });
  expectEnding(outcome, 75, "uncertain");
});

test("a SIGINT before the payout is sent sends none: 130", async () => {
  let stop: (name: Signal) => void = () => {};
  const methods = [{ id: "m", providerName: "P", codeName: "c" }];
  const server = await serve(({ path }) => {
    if (path === "/payment/methods") stop("SIGINT");
    return success(path === "/payment/methods" ? methods : {});
  });
  const outcome = await lenden([...payout.slice(0, -2), "--method", "c", "--ref", "R"], {
    env: envOf(server.baseUrl),
    onStart: (signal) => {
      stop = signal;
    },
  });
  expect(server.count("/payout/create-by-server")).toBe(0);
  expect(outcome.code).toBe(130);
});

test("a SIGINT in the pause before another try sends no payment: 130", async () => {
  const port = await closedPort();
  const pauses: number[] = [];
  let stop: (name: Signal) => void = () => {};
  const host: Partial<Host> = {
    sleep: async (ms, signal) => {
      if (ms >= 10_000)
        return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
      pauses.push(ms);
      stop("SIGINT");
    },
  };
  const line = ["pay", "create", "--amount", "5", "--description", "x", "--method-id", "m"];
  const outcome = await lenden(line, {
    env: envOf(`http://127.0.0.1:${port}/cp/api/v1`),
    host,
    onStart: (signal) => {
      stop = signal;
    },
  });
  expect([outcome.code, pauses.length]).toEqual([130, 1]);
});

test("7: another lenden is changing the profiles, and nothing is changed", async () => {
  const folder = scratchFolder();
  const { lock } = await openDatabase(":memory:");
  const unlock = lock(join(folder, ".profiles.lock"));
  const run = addProfile(folder, { sleep: async () => {} });
  expectEnding(await run, 7, "locked");
  unlock?.();
  expect(await addProfile(folder)).toMatchObject({ code: 0 });
});

test("every kind has a code of its own, and those that can be met today are above", () => {
  const codes = Object.values(exits).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 69, 75, 130]);
});

/** The one line of JSON, whose kind and whose exit code must be the same ending. */
function expectEnding({ code, stdout, stderr }: Outcome, wanted: number, kind: FailureKind) {
  expect({ code, stdout, stderr }).toMatchObject({ code: wanted, stdout: "" });
  const lines = stderr.trim().split("\n");
  expect(lines).toHaveLength(1);
  const { error }: { error: Record<string, string | undefined> } = JSON.parse(lines[0] ?? "");
  expect(error.kind).toBe(kind);
  expect(exits[kind].code).toBe(wanted);
  expect(error.message).toMatch(/\S/);
  return error;
}

function addProfile(folder: string, host: Partial<Host> = {}): Promise<Outcome> {
  const line = ["profile", "add", "shop", "--key-stdin", "--base-url", sandbox.baseUrl, "--json"];
  return lenden(line, { env: { LENDEN_CONFIG_DIR: folder }, stdin: `${sandbox.apiKey}\n`, host });
}

async function quiet(line: string[]): Promise<string> {
  const { code, stdout, stderr } = await lenden([...line, "-q"], { env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout.trim();
}

function envOf(baseUrl: string): Record<string, string> {
  return {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: sandbox.apiKey,
    LENDEN_PAYOUT_SECRET: sandbox.payoutSecret,
  };
}

function bang(): never {
  throw new TypeError("bang");
}

test("README says of every code what the help says", () => {
  const readme = readFileSync("README.md", "utf8");
  const rows = readme.split("\n").flatMap((line) => {
    const [, codes, means] = /^\| +(\d[\d, ]*?) +\| (.*?) +\|/.exec(line) ?? [];
    return codes && means ? [[Number(codes.split(",")[0]), means] as const] : [];
  });
  for (const { code, means } of Object.values(exits)) expect(new Map(rows).get(code)).toBe(means);
});
