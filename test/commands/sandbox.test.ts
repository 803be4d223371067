import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built, lenden, startBuilt } from "../support/lenden.ts";
import { openMerchant, paidPayment, payoutOf, refundOf, testAccount } from "../support/merchant.ts";
import { tool } from "../tool.js";

const account = testAccount();
const pay = "pay create --amount 500 --description x --method-id 665f1c2ab8e4 --again".split(" ");
const send = "payout send --amount 5 --to 01712345678 --method-id 665f1c2ab8e4 --again".split(" ");

test.each([
  ["payment", pay, ["pay", "get"]],
  ["payout", send, ["payout", "get"]],
])(
  "sandbox set changes the status of a %s once, as sandbox trigger does",
  async (kind, create, get) => {
    const { id, json, run } = account;
    for (const status of ["Completed", "Cancelled"]) {
      const made = await id(create);
      expect(await json(["sandbox", "set", kind, made, status])).toEqual({
        kind,
        id: made,
        status,
      });
      expect(await json([...get, made])).toMatchObject({ status });
      const other = status === "Completed" ? "Cancelled" : "Completed";
      for (const [next, code] of [
        [status, 0],
        [other, 3],
      ] as const)
        expect((await run(["sandbox", "set", kind, made, next])).code).toBe(code);
    }
  },
);

describe("sandbox trigger", () => {
  const open = async () => {
    const merchant = await openMerchant();
    const [payment, payout] = [await merchant.id(pay), await merchant.id(send)];
    const refund = await merchant.id(refundOf(await paidPayment(merchant), "5"));
    return { merchant, ids: { payment, payout, refund } };
  };

  test.each(["Completed", "Cancelled"])(
    "moves a record of each kind to %s, in the ledger too, and has no second effect",
    async (status) => {
      const { merchant, ids } = await open();
      for (const [kind, id] of Object.entries(ids)) {
        const line = ["sandbox", "trigger", kind, id, "--status", status.toLowerCase()];
        for (const _ of ["first", "second"])
          expect(await merchant.json(line)).toMatchObject({ status });
        const list = kind === "payment" ? "pay" : kind;
        const stored = await merchant.lenden([list, "list", "--json"]);
        expect(JSON.parse(stored.stdout)[kind === "payment" ? 1 : 0]).toMatchObject({ status });
        const rejected = await merchant.lenden([
          ...["sandbox", "trigger", kind, id, "--status"],
          status === "Completed" ? "Cancelled" : "Completed",
        ]);
        expect(rejected.code).toBe(3);
      }
    },
  );

  test("moves several records, and names those that it cannot move", async () => {
    const { merchant, ids } = await open();
    const line = ["sandbox", "trigger", "payout", ids.payout, "PO0", "@last", "--json"];
    const { code, stdout, stderr } = await merchant.lenden(line);
    expect(code).toBe(9);
    expect(JSON.parse(stdout)).toMatchObject([{ payoutId: ids.payout, status: "Completed" }]);
    expect(JSON.parse(stderr).error).toMatchObject({
      operation: "PO0",
      problems: ["1 of 2 payouts are Completed now."],
    });
  });

  test("--all moves every Processing record of the local sandbox, and only those of its kind", async () => {
    const { merchant, ids } = await open();
    const other = { LENDEN_DATA_DIR: scratchFolder() };
    await lenden(payoutOf("FROM-ANOTHER-MACHINE"), { env: { ...merchant.env, ...other } });
    const line = ["sandbox", "trigger", "payout", "--all", "--status", "Cancelled", "-q"];
    const { stdout } = await merchant.lenden(line);
    expect(stdout.trim().split("\n")).toHaveLength(2);
    for (const { status } of await merchant.books("payouts")) expect(status).toBe("Cancelled");
    expect(await merchant.json(["pay", "get", ids.payment])).toMatchObject({
      status: "Processing",
    });
    expect((await merchant.lenden(line)).stdout).toBe("");
  });

  test.each([
    ["refund", "Completed"],
    ["payment", "Cancelled"],
    ["payout", "Cancelled"],
  ])("rejects to move a %s to %s elsewhere, before any request", async (kind, status) => {
    const env = { ...account.env(), LENDEN_BASE_URL: "https://sandbox.invalid/cp/api/v1" };
    const line = ["sandbox", "trigger", kind, "X1", "--status", status];
    const { code, stderr } = await lenden(line, { env });
    expect(code).toBe(4);
    expect(stderr).toMatch(/Only a local sandbox can .*sandbox\.invalid.*Nothing was sent\./);
  });
});

test("commands of the local sandbox are rejected elsewhere before any request", async () => {
  const env = {
    LENDEN_API_KEY: account.sandbox().apiKey,
    LENDEN_BASE_URL: "https://sandbox.invalid",
  };
  for (const line of [["requests"], ["set", "payment", "TX1", "Completed"]]) {
    const { code, stderr } = await lenden(["sandbox", ...line], { env });
    expect(code).toBe(4);
    expect(stderr).toContain("needs a local sandbox, but the base URL is on sandbox.invalid.");
  }
});

test("sandbox requests shows requests and responses, with secrets masked", async () => {
  const { run, sandbox, asked } = account;
  const before = (await asked()).length;
  await run(["pay", "get", "TX0"]);
  expect((await asked()).slice(before)).toEqual(["GET /payment/retrieve/TX0"]);
  const { stdout } = await run(["sandbox", "requests", "-o", "csv"]);
  expect(stdout).toMatch(/^number,at,method,path,status,durationMs,fault,attempt,why\r\n/);
  const { stdout: whole } = await run(["sandbox", "requests", "-o", "ndjson"]);
  expect(whole).not.toContain(sandbox().apiKey);
  expect(whole).not.toContain(sandbox().payoutSecret);
});

test("sandbox requests --follow shows each new request once until Ctrl-C", async () => {
  const child = startBuilt(["sandbox", "requests", "--follow", "-q"], account.env());
  const lines = createInterface({ input: child.stdout });
  const seen: string[] = [];
  lines.on("line", (line) => seen.push(line));
  const before = (await account.id(["sandbox", "requests"])).split("\n").filter(Boolean).length;
  const until = async (count: number) => {
    while (seen.length < count) await once(lines, "line");
  };
  await until(before);
  for (let index = 0; index < 3; index += 1) {
    await account.run(["pay", "get", `TX${index}`]);
    await until(before + index + 1);
  }
  child.kill("SIGINT");
  const [code]: unknown[] = await once(child, "exit");
  expect([0, 130]).toContain(code);
  expect(seen).toEqual(Array.from({ length: before + 3 }, (_, index) => String(index + 1)));
});

describe("sandbox exec", () => {
  const payout = "payout send --amount 5 --to 01712345678 --method bkash --ref R-1";
  const script = `
    test -n "$LENDEN_API_KEY" && test -n "$LENDEN_BASE_URL" && test -n "$LENDEN_PAYOUT_SECRET" || exit 1
    test -z "$LENDEN_PROFILE" || exit 1
    printf '%s' "$LENDEN_DATA_DIR" >"$HOME/used"; "$@" ${payout} >/dev/null || exit 1
    "$@" ledger show R-1 >/dev/null && exit 7`;
  const exec = async (dataDir: string | undefined) => {
    const home = scratchFolder();
    const other = { LENDEN_PROFILE: "other", LENDEN_API_KEY: "public-of-another" };
    const env = { ...other, LENDEN_CONFIG_DIR: home, LENDEN_DATA_DIR: dataDir };
    const line = ["sandbox", "exec", "--json", "--", "sh", "-c", script, "sh", ...tool];
    expect(await built(line, { env })).toMatchObject({ code: 7, stderr: "" });
    return { home, used: readFileSync(join(home, "used"), "utf8") };
  };

  test("gives the command its own account and a temporary ledger, and ends with its exit code", async () => {
    const { home, used } = await exec(undefined);
    expect(used).not.toBe("");
    expect(used.startsWith(home)).toBe(false);
    expect(existsSync(used)).toBe(false);
    const files = readdirSync(home, { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => file.endsWith("ledger.db"))).toEqual([]);
  });

  test("uses and keeps the ledger in LENDEN_DATA_DIR", async () => {
    const dataDir = join(scratchFolder(), "data");
    const { used } = await exec(dataDir);
    expect(used).toBe(dataDir);
    expect(readdirSync(dataDir)).toContain("ledger.db");
  });
});

test("sandbox exec ends as a shell does after a signal, and without a command", async () => {
  const killed = await built(["sandbox", "exec", "--", "sh", "-c", "kill -TERM $$"]);
  expect(killed.code).toBe(143);
  expect((await lenden(["sandbox", "exec", "--", "/nowhere/at-all"])).code).toBe(2);
  expect((await lenden(["sandbox", "exec"])).code).toBe(2);
});

test("sandbox exec names a temporary directory that it cannot use", async () => {
  const env = { TMPDIR: "/nowhere/at-all", LENDEN_DATA_DIR: undefined };
  const { code, stderr } = await built(["sandbox", "exec", "--json", "--", "true"], { env });
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { reason: "file.unusable" } });
});

test("--latency 300ms delays each response by 300 ms", async () => {
  const timed = `
    const from = performance.now();
    fetch(process.env.LENDEN_BASE_URL + "/payment/methods").then(() => {
      process.exitCode = performance.now() - from > 280 ? 0 : 1;
    });`;
  const line = ["sandbox", "exec", "--latency", "300ms", "--", process.execPath, "-e", timed];
  expect(await built(line)).toMatchObject({ code: 0, stderr: "" });
});

test("demo goes through a payment, a payout and a refund", async () => {
  const { code, stdout, stderr } = await built(["demo", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const steps = stdout
    .trim()
    .split("\n")
    .map((line): { message: string; data: unknown } => JSON.parse(line));
  expect(steps).toHaveLength(8);
  expect(steps.at(5)?.data).toMatchObject({ existing: true });
  expect(steps.at(-1)?.data).toMatchObject({ status: "Cancelled" });
});
