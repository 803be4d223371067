import { describe, expect, test } from "vitest";
import { loadCommands } from "../src/cli/command/table.ts";
import { entries } from "../src/commands/index.ts";
import { exits, type FailureKind } from "../src/domain/failure.ts";
import type { Signal } from "../src/platform/host.ts";
import { fileOf } from "./batch/files.ts";
import { faults } from "./sandbox/running.ts";
import { deadlineOnce, scratchFolder } from "./support/helpers.ts";
import { jumpingHost, lenden, type Outcome } from "./support/lenden.ts";
import { openMerchant, paymentOf, payoutOf, testAccount } from "./support/merchant.ts";
import { closedPort, refusal, serve, success } from "./support/server.ts";

const account = testAccount();
const batchText = "ref,amount,to,method\nA,5,01712345671,bkash\nB,6,01712345672,bkash\n";

/** A payout without a reference. */
function payout(...more: string[]): string[] {
  const order = ["--amount", "5", "--to", "01712345678", "--method-id", "665f1c2ab8e4"];
  return ["payout", "send", ...order, ...more];
}

function sendOf(path: string, ...more: string[]): string[] {
  return ["payout", "batch", "send", path, "--json", ...more];
}

function envOf(baseUrl: string): Record<string, string> {
  return { ...account.env(), LENDEN_BASE_URL: baseUrl, LENDEN_CONFIG_DIR: scratchFolder() };
}

/** Expects this exit code and its kind, in one line of JSON on stderr. */
function errorOf({ code, stderr }: Outcome, wanted: number, kind?: FailureKind) {
  expect({ code, stderr }).toEqual({ code: wanted, stderr: expect.stringMatching(/^[^\n]+\n$/) });
  const { error, ...others } = JSON.parse(stderr);
  expect(others).toEqual({});
  expect(error.message).toMatch(/\S/);
  const found = Object.entries(exits).find(([name]) => name === error.kind);
  // SIGTERM has its own code, and the kind of SIGINT.
  if (wanted !== 143) expect(found?.[1].code).toBe(wanted);
  if (kind) expect(error.kind).toBe(kind);
  return error;
}

/** Runs lenden against a server whose response is given a function that sends a signal to the run. */
async function stopped(
  line: string[],
  respond: (stop: (name: Signal) => void, path: string) => ReturnType<typeof success>,
) {
  let stop: (name: Signal) => void = () => {};
  const server = await serve(({ path }) => respond((name) => stop(name), path));
  const outcome = await lenden(line, {
    env: envOf(server.baseUrl),
    onStart: (signal) => {
      stop = signal;
    },
  });
  return { server, outcome };
}

test("every kind of failure has its own exit code", () => {
  const codes = Object.values(exits).map(({ code }) => code);
  expect(codes).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 69, 75, 130]);
});

describe("a failed command with JSON output writes one line to stderr and ends with", () => {
  test("1 if a port is taken", async () => {
    const { port } = new URL(account.sandbox().baseUrl);
    errorOf(await account.run(["sandbox", "start", "--port", port, "--json"]), 1, "internal");
  });

  test("1 if lenden has a defect, without a stack", async () => {
    const randomBytes = (): never => {
      throw new TypeError("bang");
    };
    const outcome = await account.run(payout("--json"), { host: { randomBytes } });
    errorOf(outcome, 1, "internal");
    expect(outcome.stderr).not.toMatch(/bang|at .*\.ts/);
  });

  test.each([
    ["an unknown command", ["metods", "--json"]],
    ["an unknown command in a group", ["payouts", "frob", "--json"]],
    ["--json after an unknown flag", ["methods", "--bogus", "--json"]],
    ["--json before the command", ["--json", "payout", "send", "--amuont", "5"]],
    ["-ojson", ["-ojson", "metods"]],
    ["-qo json", ["-qo", "json", "metods"]],
    ["--output=json", ["pay", "create", "--output=json"]],
    ["ndjson", ["pay", "create", "-o", "ndjson"]],
    ["help on an unknown topic", ["help", "nonsense", "--json"]],
    ["a last flag without its value", ["methods", "--json", "--timeout"]],
    ["a missing value behind -o json", ["pay", "create", "-o", "json", "--amount"]],
    ["contradicting formats", ["methods", "--json", "-o", "csv"]],
    ["an invalid amount", payout("--amount", "1,250", "--json")],
  ])("2 for %s", async (_, line) => {
    errorOf(await lenden(line), 2, "usage");
  });

  test("2 with LENDEN_OUTPUT=json", async () => {
    const env = { LENDEN_OUTPUT: "json" };
    for (const line of [["metods"], ["pay", "create"], ["methods", "--bogus"]])
      errorOf(await lenden(line, { env }), 2, "usage");
  });

  test("2 or 5 for a batch file, with the problems on stdout", async () => {
    const merchant = await openMerchant();
    const check = (content: string) =>
      merchant.lenden(["payout", "batch", "check", fileOf(content), "--json"]);
    const invalid = await check("amount,to\nx,y\n");
    expect(errorOf(invalid, 2).reason).toBe("batch.invalid-file");
    expect(JSON.parse(invalid.stdout).problemCount).toBeGreaterThan(0);
    expect((await merchant.lenden(payoutOf("A"))).code).toBe(0);
    expect(errorOf(await check(batchText), 5).reason).toBe("batch.references-used");
  });

  test("3 if the API rejects the request, with its status and code", async () => {
    const server = await serve(() => refusal(422, { message: "too much", code: "LIMIT" }));
    const outcome = await lenden(payout("--ref", "R", "--json"), { env: envOf(server.baseUrl) });
    expect(errorOf(outcome, 3, "refused")).toMatchObject({ status: 422, code: "LIMIT" });
  });

  test.each<[string, Record<string, string | undefined>, string[]]>([
    ["no key", { LENDEN_API_KEY: undefined }, ["methods"]],
    ["an unknown key", { LENDEN_API_KEY: "sk_sandbox_AAA-000000000000-AAA" }, ["methods"]],
    ["no secret", { LENDEN_PAYOUT_SECRET: undefined }, payout()],
    ["a wrong secret", { LENDEN_PAYOUT_SECRET: "wrong" }, payout("--ref", "R4")],
    ["a production key on http:", { LENDEN_API_KEY: "public-AAA-000000000000-AAA" }, ["methods"]],
    [
      "a production payout that is not confirmed",
      {
        LENDEN_BASE_URL: "https://api.invalid",
        LENDEN_API_KEY: "public-AAA-000000000000-AAA",
      },
      payout("--ref", "R"),
    ],
  ])("4 for %s", async (_, env, line) => {
    errorOf(await account.run([...line, "--json"], { env }), 4, "access");
  });

  test("4 without the notice that a variable overrides the profile", async () => {
    const merchant = await openMerchant();
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
    expect((await merchant.lenden(add, { stdin: merchant.apiKey })).code).toBe(0);
    const env = { ...merchant.env, LENDEN_API_KEY: "sk_sandbox_AAA-000000000000-AAA" };
    const line = ["methods", "--profile", "shop"];
    expect((await lenden(line, { env })).stderr).toContain("LENDEN_API_KEY");
    errorOf(await lenden([...line, "--json"], { env }), 4, "access");
  });

  test("5 if the reference belongs to another payout", async () => {
    await account.id(payout("--ref", "R5"));
    const outcome = await account.run(payout("--ref", "R5", "--json").with(3, "6"));
    expect(errorOf(outcome, 5, "conflict").operation).toBe("R5");
  });

  test("6 if rows of a batch were rejected, with the next command as the hint", async () => {
    const merchant = await openMerchant({ faults: faults("createPayout:status-400") });
    const path = fileOf(batchText);
    const sent = await merchant.lenden(sendOf(path));
    const { batch, states } = JSON.parse(sent.stdout);
    const error = errorOf(sent, 6);
    expect(error).toMatchObject({
      reason: "batch.rows-failed",
      effect: "nothing-changed",
      operation: batch,
      message: expect.stringContaining("0 of 2 rows accepted"),
      hint: expect.stringContaining("--only failed"),
    });
    expect(states.refused.rows).toBe(2);
    const status = await merchant.lenden(["payout", "batch", "status", path, "--json"]);
    expect(errorOf(status, 6)).toEqual({ ...error, effect: "read-only" });
  });

  test.each([
    ["pay get", "TX0"],
    ["payout get", "PO0"],
    ["refund get", "RF0"],
    ["sandbox trigger payment", "TX0"],
  ])("9 for %s of an unknown ID", async (command, id) => {
    const outcome = await account.run([...command.split(" "), id, "--json"]);
    expect(errorOf(outcome, 9, "not-found")).toMatchObject({ operation: id, status: 404 });
  });

  test("11 if a signature does not match, with the result on stdout", async () => {
    const line = ["payout", "verify", "--amount", "5", "--ref", "R", "--timestamp", "1763614800"];
    const outcome = await account.run([...line, "--signature", "00", "--json"]);
    errorOf(outcome, 11, "unverified");
    expect(JSON.parse(outcome.stdout).matches).toBe(false);
  });

  test("69 if nothing listens", async () => {
    const port = await closedPort();
    const env = envOf(`http://127.0.0.1:${port}/cp/api/v1`);
    const host = jumpingHost();
    const error = errorOf(await lenden(payout("--json"), { env, host }), 69, "unreachable");
    expect(error.operation).toMatch(/^LD-/);
    expect(error.hint).toContain(`'lenden sandbox start --port ${port}'`);
    errorOf(await lenden(["methods", "--json"], { env, host }), 69, "unreachable");
  });

  test.each([
    ["a page in front of the API responds", { do: "answer", status: 499, body: "<html>" } as const],
    ["no response arrives", { do: "silence" } as const],
  ])("75 if %s, after retries with the same reference", async (_, behaviour) => {
    const server = await serve(() => behaviour);
    const line = payout("--ref", "R75", "--timeout", "1h", "--json");
    const sleep = deadlineOnce(() => behaviour.do === "silence" && server.count() > 0);
    const run = lenden(line, { env: envOf(server.baseUrl), host: { sleep } });
    const error = errorOf(await run, 75, "uncertain");
    expect(error).toMatchObject({
      operation: "R75",
      hint: expect.stringContaining("ledger resolve R75"),
    });
    const references = server.asked.map(({ body }) => JSON.parse(body).merchantRef);
    expect(new Set(references)).toEqual(new Set(["R75"]));
  });

  test.each<[Signal, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])("the code of %s while it reads: %i", async (name, code) => {
    const { outcome } = await stopped(["methods", "--json"], (stop) => {
      stop(name);
      return { do: "silence" };
    });
    errorOf(outcome, code, "interrupted");
  });

  test("75 if a second SIGINT leaves a payout in flight", async () => {
    const { outcome } = await stopped(payout("--ref", "R", "--json"), (stop) => {
      stop("SIGINT");
      stop("SIGINT");
      return { do: "silence" };
    });
    errorOf(outcome, 75, "uncertain");
  });
});

/** An API whose n-th payout ends as it is told to: "ok", a status, or what goes wrong on the wire. */
function payoutService(end: (count: number) => string | number) {
  let count = 0;
  return serve(({ method, path, body }) => {
    if (path === "/payment/methods")
      return success([{ id: "m1", providerName: "P", codeName: "bkash" }]);
    if (method === "GET") return { do: "silence" };
    count += 1;
    const how = end(count);
    if (how === "silence" || how === "reset") return { do: how };
    if (typeof how === "number") return refusal(how);
    const { merchantRef, amount } = JSON.parse(body);
    const createdAt = new Date().toISOString();
    const own = { payoutId: `PO${count}`, amount: how === "other" ? 99 : amount };
    return success({ merchantRef, status: "Processing", createdAt, ...own });
  });
}

describe("the effect of a batch is what its rows show", () => {
  test.each<[string, (string | number)[], number, string, string]>([
    ["a row is rejected", ["ok", 400], 6, "batch.rows-failed", "partly-sent"],
    ["access ends after a row", ["ok", 401], 4, "batch.access-denied", "partly-sent"],
    ["access is denied", [401], 4, "batch.access-denied", "nothing-changed"],
    ["a row has no response", ["ok", "reset"], 75, "batch.outcome-unknown", "outcome-unknown"],
    ["a row is another payout", ["ok", "other"], 5, "batch.in-conflict", "outcome-unknown"],
  ])("if %s", async (_, ends, code, reason, effect) => {
    const server = await payoutService((count) => ends[count - 1] ?? ends.at(-1) ?? "ok");
    const line = sendOf(fileOf(batchText), "--concurrency", "1");
    const outcome = await lenden(line, { env: envOf(server.baseUrl), host: jumpingHost() });
    expect(errorOf(outcome, code)).toMatchObject({ reason, effect });
  });

  test("if SIGINT stops it", async () => {
    let stop: () => void = () => {};
    const server = await payoutService(() => {
      stop();
      return "ok";
    });
    const outcome = await lenden(sendOf(fileOf(batchText), "--concurrency", "1"), {
      env: envOf(server.baseUrl),
      onStart: (signal) => {
        stop = () => signal("SIGINT");
      },
    });
    expect(errorOf(outcome, 130, "interrupted")).toMatchObject({
      effect: "partly-sent",
      message: expect.stringContaining("1 of 2 rows accepted"),
      operation: JSON.parse(outcome.stdout).batch,
    });
  });
});

describe("a command that succeeds with JSON output writes nothing to stderr", () => {
  test.each([
    ["a read", ["methods"]],
    ["a payout with a generated reference", payout().with(3, "7")],
    ["a batch with its progress", ["payout", "batch", "send", fileOf(batchText)]],
    ["a ledger export", ["ledger", "export"]],
    ["a payment with its QR code", paymentOf("qr", "--qr", "--open")],
  ])("%s", async (_, line) => {
    expect(await account.run([...line, "--json"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("a wait", async () => {
    const { lenden: run } = await openMerchant({ autoCompleteMs: 100 });
    const outcome = await run(paymentOf("wait", "--wait", "--interval", "50ms", "--json"));
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    const payment_url = expect.any(String);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ status: "Completed", payment_url });
  });

  test("a warning about money, which is part of the result", async () => {
    const line = sendOf(fileOf("ref,amount,to,method\nC,5,01812345671,bkash\n", "other.csv"));
    expect((await account.run(line)).code).toBe(0);
    const again = await account.run(line);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    const message = expect.stringContaining("Nothing was sent.");
    const warnings = [{ reason: "batch.already-sent", message }];
    expect(JSON.parse(again.stdout).warnings).toEqual(warnings);
    const quiet = await account.run([...line, "-q"]);
    expect([quiet.code, JSON.parse(quiet.stderr)]).toEqual([0, { warnings }]);
  });

  test("except for what --verbose shows", async () => {
    const { code, stderr } = await account.run(["methods", "--json", "-v"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("> GET ")]);
  });
});

test("every command documents its JSON, but those that print what others have", async () => {
  const others = ["api", "completion", "payout batch template", "sandbox exec", "sandbox info"];
  const bare = (await loadCommands(entries)).filter(({ output }) => !output);
  expect(bare.map(({ name }) => name).sort()).toEqual(others);
});
