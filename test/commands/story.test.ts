import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningSandbox, startSandbox } from "../../src/sandbox/server.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { toolLine } from "../tool.js";

let sandbox: RunningSandbox;
let env: Record<string, string>;

beforeAll(async () => {
  sandbox = await startSandbox({ now: Date.now });
  env = {
    LENDEN_BASE_URL: sandbox.baseUrl,
    LENDEN_API_KEY: sandbox.apiKey,
    LENDEN_PAYOUT_SECRET: sandbox.payoutSecret,
    LENDEN_CONFIG_DIR: scratchFolder(),
  };
});

afterAll(() => sandbox.close());

async function id(line: string[]): Promise<string> {
  const { code, stdout, stderr } = await lenden([...line, "-q"], { env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout.trim();
}

async function json(line: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await lenden([...line, "--json"], { env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

const payment = [
  "pay",
  "create",
  "--amount",
  "1250.50",
  "--description",
  "Order 42",
  "--method",
  "bKash",
];
const payout = [
  "payout",
  "send",
  "--amount",
  "500",
  "--to",
  "+880 1712-345678",
  "--method",
  "bkash",
  "--ref",
  "INV-7",
];

test("a payment is created, paid, paid back in part, and the refund is cancelled", async () => {
  const transactionId = await id(payment);
  expect(await json(["pay", "get", transactionId])).toMatchObject({
    amount: 1250.5,
    status: "Processing",
  });
  await id(["sandbox", "trigger", "payment", transactionId]);
  expect(await json(["pay", "get", transactionId])).toMatchObject({
    status: "Completed",
    paymentMethod: "bKash",
  });
  const refund = ["refund", "create", "--payment", transactionId, "--amount", "250.25"];
  const refundId = await id([
    ...refund,
    "--account-type",
    "personal",
    "--account-number",
    "01812345678",
  ]);
  expect(await json(["refund", "get", refundId])).toMatchObject({
    amount: 250.25,
    accountNumber: "01812345678",
  });
  expect(await json(["refund", "cancel", refundId, "--note", "kept it"])).toMatchObject({
    status: "Cancelled",
    note: "kept it",
  });
  const again = await lenden(["refund", "cancel", refundId], { env });
  expect(again).toMatchObject({ code: 3, stdout: "" });
  expect(again.stderr).toContain("already Cancelled");
});

test("a payout is sent once, and the second sending says that it exists", async () => {
  expect(await json(payout)).toMatchObject({
    merchantRef: "INV-7",
    recipientNumber: "01712345678",
    existing: false,
  });
  expect(await json(payout)).toMatchObject({ merchantRef: "INV-7", existing: true });
});

test("a reference that belongs to another amount or recipient is a conflict, field by field", async () => {
  const amount = await lenden(payout.with(3, "501"), { env });
  expect(amount.code).toBe(5);
  expect(amount.stderr).toContain("amount: requested BDT 501.00, the ledger has BDT 500.00");
  const recipient = await lenden(payout.with(5, "01812345678"), { env });
  expect(recipient.code).toBe(5);
  expect(recipient.stderr).toContain(
    "recipient: requested 01812345678, the ledger has 01712345678",
  );
});

test("the built tool runs all steps of `demo`, and leaves nothing behind", async () => {
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

test("a shell script tells it inside `sandbox exec`", async () => {
  const script = `set -e
    lenden() { ${toolLine} "$@"; }
    id=$(lenden pay create --amount 500 --description shoes --method nagad -q)
    lenden sandbox trigger payment "$id" -q
    test "$(lenden pay get "$id" --json | grep -c '"status": "Completed"')" = 1
    po=$(lenden payout send --amount 5 --to 01712345678 --method bkash -q)
    lenden sandbox trigger payout "$po" -q
    exit 42`;
  const { code, stdout, stderr } = await built(["sandbox", "exec", "--", "sh", "-c", script]);
  expect({ code, stderr: stderr.replace(/LD-\w+/, "LD-…") }).toEqual({
    code: 42,
    stderr: "Reference: LD-…\n",
  });
  expect(stdout.trim().split("\n")).toHaveLength(2);
});
