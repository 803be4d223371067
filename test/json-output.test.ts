import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFault } from "../src/api/contract/fault.ts";
import { exits } from "../src/domain/failure.ts";
import type { Host } from "../src/platform/host.ts";
import { fileOf } from "./batch/files.ts";
import { built, jumpingHost, lenden, type Outcome } from "./support/lenden.ts";
import { type Merchant, openMerchant, paymentOf, payoutOf } from "./support/merchant.ts";
import { closedPort, serve, startService, success } from "./support/server.ts";

const batchText = "ref,amount,to,method\nA,5,01712345671,bkash\nB,6,01712345672,bkash\n";

describe("a failed command with JSON output has one line on stderr", () => {
  test.each([
    ["an unknown command", ["metods", "--json"]],
    ["an unknown group", ["payouts", "frob", "--json"]],
    ["--json after an unknown flag", ["methods", "--bogus", "--json"]],
    ["--json after an unknown flag of lenden", ["--bogus", "methods", "--json"]],
    ["--json before the command", ["--json", "payout", "send", "--amuont", "5"]],
    ["-o json", ["payout", "send", "-o", "json"]],
    ["-ojson and an unknown command", ["-ojson", "metods"]],
    ["-qo json and an unknown command", ["-qo", "json", "metods"]],
    ["--output=json", ["pay", "create", "--output=json"]],
    ["ndjson", ["pay", "create", "-o", "ndjson"]],
    ["help on an unknown topic", ["help", "nonsense", "--json"]],
    ["a last flag without its value", ["methods", "--json", "--timeout"]],
    ["contradicting formats", ["methods", "--json", "-o", "csv"]],
  ])("2: %s", async (_, line) => {
    const { error } = oneError(await lenden(line), 2);
    expect(error.kind).toBe("usage");
  });

  test("2: LENDEN_OUTPUT=json", async () => {
    const env = { LENDEN_OUTPUT: "json" };
    for (const line of [["metods"], ["pay", "create"], ["methods", "--bogus"]])
      expect(oneError(await lenden(line, { env }), 2).error.kind).toBe("usage");
  });

  test("2 and 5: batch check, with the problems on stdout", async () => {
    const merchant = await openMerchant();
    const bad = await merchant.lenden(checkOf(fileOf("amount,to\nx,y\n")));
    expect(oneError(bad, 2).error).toMatchObject({
      reason: "batch.invalid-file",
      hint: expect.any(String),
    });
    expect(JSON.parse(bad.stdout).problemCount).toBeGreaterThan(0);
    expect((await merchant.lenden(payoutOf("A"))).code).toBe(0);
    const taken = await merchant.lenden(checkOf(fileOf(batchText)));
    expect(oneError(taken, 5).error.reason).toBe("batch.references-used");
  });

  test("4: a production payout that is not confirmed, without the summary", async () => {
    const env = {
      LENDEN_BASE_URL: "https://api.invalid",
      LENDEN_API_KEY: "public-AAA-000000000000-AAA",
      LENDEN_PAYOUT_SECRET: "s",
    };
    const line = payoutOf("R", "--json");
    expect(oneError(await lenden(line, { env }), 4).error).toMatchObject({
      kind: "access",
      operation: "R",
    });
  });

  test("4: a profile that a variable overrides, without the notice", async () => {
    const merchant = await openMerchant();
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
    expect((await merchant.lenden(add, { stdin: merchant.apiKey })).code).toBe(0);
    const env = { ...merchant.env, LENDEN_API_KEY: "sk_sandbox_AAA-000000000000-AAA" };
    const line = ["methods", "--profile", "shop"];
    expect((await lenden(line, { env })).stderr).toContain("LENDEN_API_KEY");
    expect(oneError(await lenden([...line, "--json"], { env }), 4).error.kind).toBe("access");
  });

  test("6: a batch with rejected rows, with the next command as the hint", async () => {
    const merchant = await openMerchant({ faults: [faultOf("createPayout:status-400")] });
    const path = fileOf(batchText);
    const sent = await merchant.lenden(sendOf(path));
    const { error } = oneError(sent, 6);
    const { batch, states } = JSON.parse(sent.stdout);
    expect(error).toMatchObject({
      kind: "mixed",
      reason: "batch.rows-failed",
      effect: "nothing-changed",
      operation: batch,
      message: expect.stringContaining("0 of 2 rows were sent"),
      hint: expect.stringContaining("--only failed"),
    });
    expect(states.refused.rows).toBe(2);
    const status = await merchant.lenden(["payout", "batch", "status", path, "--json"]);
    expect(oneError(status, 6).error).toEqual({ ...error, effect: "read-only" });
  });

  test("8 and 10: waits, with the ID", async () => {
    const merchant = await openMerchant();
    const id = await merchant.id(paymentOf("x"));
    const wait = ["pay", "wait", id, "--wait-timeout", "50ms", "--interval", "20ms", "--json"];
    expect(oneError(await merchant.lenden(wait), 8).error).toMatchObject({
      kind: "pending",
      operation: id,
    });
    await merchant.set("payment", id, "Cancelled");
    const cancelled = await merchant.lenden(wait);
    expect(oneError(cancelled, 10).error).toMatchObject({ kind: "cancelled", operation: id });
    expect(JSON.parse(cancelled.stdout).transactionId).toBe(id);
  });

  test("8: payout send --wait and batch send --wait", async () => {
    const merchant = await openMerchant();
    const waiting = ["--wait", "--wait-timeout", "50ms", "--interval", "20ms", "--json"];
    const sent = await merchant.lenden(payoutOf("R", ...waiting));
    expect(oneError(sent, 8).error.operation).toBe(JSON.parse(sent.stdout).payoutId);
    const batch = await merchant.lenden([...sendOf(fileOf(batchText)), ...waiting.slice(0, -1)]);
    expect(oneError(batch, 8).error).toMatchObject({
      kind: "pending",
      effect: "accepted",
      message: expect.stringContaining("2 of 2 rows were sent"),
    });
  });

  test("11: a signature that does not match", async () => {
    const line = ["payout", "verify", "--amount", "5", "--ref", "R", "--timestamp", "1763614800"];
    const env = { LENDEN_PAYOUT_SECRET: "s" };
    const outcome = await lenden([...line, "--signature", "00", "--json"], { env });
    expect(oneError(outcome, 11).error.kind).toBe("unverified");
  });

  test("3, 9, 69 and 75: raw requests, with the status", async () => {
    for (const [status, code] of [
      [422, 3],
      [404, 9],
      [503, 69],
    ] as const) {
      const { env } = await startService(() => ({ status, data: {} }));
      const outcome = await lenden(["api", "GET", "/payment/methods", "--json"], { env });
      expect(oneError(outcome, code).error.status).toBe(status);
    }
    const { env } = await startService(() => ({ status: 503, text: "<html>" }));
    const body = ["-f", "transactionId=TX1", "--json"];
    const outcome = await lenden(["api", "POST", "/sandbox/trigger-payment", ...body], { env });
    expect(oneError(outcome, 75).error.kind).toBe("uncertain");
  });

  test("69 and 75: a payout that is retried, without a line for each attempt", async () => {
    const nowhere = envOf(`http://127.0.0.1:${await closedPort()}/cp/api/v1`);
    const line = payoutWithout("--timeout", "2s", "--json");
    const unreachable = oneError(await lenden(line, { env: nowhere }), 69);
    expect(unreachable.error.operation).toMatch(/^LD-/);
    const server = await serve(() => ({ do: "answer", status: 503, body: "<html>" }));
    const uncertain = oneError(await lenden(line, { env: envOf(server.baseUrl) }), 75);
    const [first] = server.asked.filter(({ path }) => path.includes("create"));
    expect(uncertain.error.operation).toBe(JSON.parse(first?.body ?? "{}").merchantRef);
  });

  test("75: ledger resolve with an outcome that stays unknown", async () => {
    const ill = [faultOf("createPayout:status-503")];
    const merchant = await openMerchant({ faults: ill });
    expect((await merchant.lenden(payoutOf("R", "--timeout", "1s"))).code).toBe(75);
    const line = ["ledger", "resolve", "--timeout", "1s", "--json"];
    expect(oneError(await merchant.lenden(line), 75).error.kind).toBe("uncertain");
  });

  test("130 and 143: a signal", async () => {
    let stop: () => void = () => {};
    const server = await serve(() => {
      stop();
      return { do: "silence" };
    });
    for (const [name, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      const outcome = await lenden(["methods", "--json"], {
        env: envOf(server.baseUrl),
        onStart: (signal) => {
          stop = () => signal(name);
        },
      });
      expect(oneError(outcome, code).error.kind).toBe("interrupted");
    }
  });

  test.each<[string, (string | number)[], number, object]>([
    ["a row is rejected", ["ok", 400], 6, { reason: "batch.rows-failed", effect: "partly-sent" }],
    [
      "access ends after a row",
      ["ok", 401],
      4,
      { reason: "batch.access-denied", effect: "partly-sent" },
    ],
    ["access is denied", [401], 4, { reason: "batch.access-denied", effect: "nothing-changed" }],
    [
      "a row has no response",
      ["ok", "reset"],
      75,
      { reason: "batch.outcome-unknown", effect: "outcome-unknown" },
    ],
    [
      "a row is another payout",
      ["ok", "other"],
      5,
      { reason: "batch.in-conflict", effect: "outcome-unknown" },
    ],
  ])("the effect of a batch is what its rows show if %s", async (_, ends, code, error) => {
    const server = await payoutService((count) => ends[count - 1] ?? ends.at(-1) ?? "ok");
    const line = [...sendOf(fileOf(batchText)), "--concurrency", "1"];
    const outcome = await lenden(line, { env: envOf(server.baseUrl), host: jumpingHost() });
    expect(oneError(outcome, code).error).toMatchObject(error);
  });

  test("130: a batch that a signal stopped, with how many rows were sent", async () => {
    let stop: () => void = () => {};
    const server = await payoutService(() => {
      stop();
      return "ok";
    });
    const line = [...sendOf(fileOf(batchText)), "--concurrency", "1"];
    const outcome = await lenden(line, {
      env: envOf(server.baseUrl),
      onStart: (signal) => {
        stop = () => signal("SIGINT");
      },
    });
    expect(oneError(outcome, 130).error).toMatchObject({
      kind: "interrupted",
      effect: "partly-sent",
      message: expect.stringContaining("1 of 2 rows were sent"),
      operation: JSON.parse(outcome.stdout).batch,
    });
  });

  test("another program's exit code adds nothing to what that program says", async () => {
    const line = ["sandbox", "exec", "--json", "--", process.execPath, "-e", "process.exit(7)"];
    expect(await built(line, { env: { LENDEN_OUTPUT: "json" } })).toMatchObject({
      code: 7,
      stderr: "",
    });
  });
});

describe("a command that succeeds with JSON output has nothing on stderr", () => {
  let merchant: Merchant;
  let close = async () => {};
  beforeAll(async () => {
    merchant = await openMerchant({}, (ending) => {
      close = ending;
    });
  });
  afterAll(() => close());

  test.each([
    ["a payout with a generated reference", payoutWithout()],
    ["a batch with its progress", ["payout", "batch", "send", fileOf(batchText)]],
    ["a batch that is there already", ["payout", "batch", "send", fileOf(batchText)]],
    ["a ledger that is empty", ["ledger", "export"]],
    ["a payment with its QR code", paymentOf("qr", "--qr", "--open")],
  ])("%s", async (_, line) => {
    expect(await merchant.lenden([...line, "--json"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("a wait", async () => {
    const { lenden: run } = await openMerchant({ autoCompleteMs: 100 });
    const line = paymentOf("wait", "--wait", "--interval", "50ms", "--json");
    const { code, stdout, stderr } = await run(line);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "Completed",
      payment_url: expect.any(String),
    });
  });

  test("--verbose shows the exchange all the same", async () => {
    const { code, stderr } = await merchant.lenden(["methods", "--json", "-v"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("> GET ")]);
  });

  test("a warning about money is part of the result", async () => {
    const path = fileOf("ref,amount,to,method\nC,5,01812345671,bkash\n", "other.csv");
    expect((await merchant.lenden(sendOf(path))).code).toBe(0);
    const again = await merchant.lenden(sendOf(path));
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(again.stdout).warnings).toEqual([
      { reason: "batch.already-sent", message: expect.stringContaining("Nothing was sent.") },
    ]);
  });
});

test.each([
  ["on stderr", []],
  ["in the error", ["--json"]],
])("--timeout that ends a batch shows how many rows were sent, %s", async (_, flags) => {
  let timeIsUp = (): void => {};
  const sleep: Host["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      if (ms > 3_000_000) timeIsUp = resolve;
      else setTimeout(resolve, Math.min(ms, 10));
      signal?.addEventListener("abort", () => resolve());
    });
  const server = await payoutService((count) => {
    if (count > 3) timeIsUp();
    return count > 3 ? "silence" : "ok";
  });
  const rows = Array.from({ length: 6 }, (_, row) => `T${row},5,0171234567${row},bkash\n`);
  const path = fileOf(`ref,amount,to,method\n${rows.join("")}`);
  const line = ["payout", "batch", "send", path, "--timeout", "1h", "--concurrency", "1", ...flags];
  const outcome = await lenden(line, { env: envOf(server.baseUrl), host: { sleep } });
  const says = "3 of 6 rows were sent (BDT 15.00 of BDT 30.00); outcome unknown: 1; not sent: 2.";
  expect(outcome).toMatchObject({
    code: 75,
    stderr: expect.stringContaining("--timeout ended the"),
  });
  expect(outcome.stderr).toContain(says);
  if (flags.length > 0)
    expect(oneError(outcome, 75).error).toMatchObject({
      message: `--timeout ended the batch. ${says}`,
      effect: "outcome-unknown",
      hint: expect.stringContaining("same file again"),
    });
});

test("without JSON the notices are there", async () => {
  const merchant = await openMerchant();
  const { stderr } = await merchant.lenden(payoutWithout());
  expect(stderr).toMatch(/^Reference: LD-/);
});

function oneError({ code, stderr }: Outcome, wanted: number) {
  expect({ code, stderr }).toMatchObject({
    code: wanted,
    stderr: expect.stringMatching(/^[^\n]+\n$/),
  });
  const { error, ...others } = JSON.parse(stderr);
  expect(others).toEqual({});
  expect(error.message).toMatch(/\S/);
  expect(Object.keys(exits)).toContain(error.kind);
  return { error };
}

/** An API that answers the n-th payout as it is told to: "ok", a status, or what goes wrong on the wire. */
function payoutService(answer: (count: number) => string | number) {
  let count = 0;
  return serve(({ method, path, body }) => {
    if (path === "/payment/methods")
      return success([{ id: "m1", providerName: "P", codeName: "bkash" }]);
    if (method === "GET") return { do: "silence" };
    count += 1;
    const how = answer(count);
    if (how === "silence" || how === "reset") return { do: how };
    if (typeof how === "number")
      return { do: "answer", status: how, body: '{"success":false,"message":"no"}' };
    const { merchantRef, amount } = JSON.parse(body);
    const createdAt = new Date().toISOString();
    const payoutId = `PO${count}`;
    const own = how === "other" ? { amount: 99 } : { amount };
    return success({ payoutId, merchantRef, status: "Processing", createdAt, ...own });
  });
}

function checkOf(path: string): string[] {
  return ["payout", "batch", "check", path, "--json"];
}

function sendOf(path: string): string[] {
  return ["payout", "batch", "send", path, "--json"];
}

/** A payout without a reference of its own. */
function payoutWithout(...more: string[]): string[] {
  const what = ["--amount", "5", "--to", "01712345678", "--method-id", "665f1c2ab8e4"];
  return ["payout", "send", ...what, ...more];
}

function envOf(baseUrl: string): Record<string, string> {
  return {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-abc",
    LENDEN_PAYOUT_SECRET: "not-a-real-secret",
  };
}

function faultOf(rule: string) {
  const read = readFault(rule);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}
