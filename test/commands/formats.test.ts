import { beforeAll, describe, expect, test } from "vitest";
import { testAccount } from "../support/merchant.ts";

const account = testAccount();
const ids = { payment: "", payout: "", refund: "" };

beforeAll(async () => {
  const { id } = account;
  ids.payment = await id(
    "pay create --amount 1250.50 --description =1+1 --method bkash".split(" "),
  );
  await id(["sandbox", "trigger", "payment", ids.payment]);
  ids.payout = await id([
    ...["payout", "send", "--amount", "500", "--to", "01712345678", "--method", "bkash"],
    ...["--ref", "INV-7", "--name", "Rahima"],
  ]);
  ids.refund = await id([
    ...["refund", "create", "--payment", ids.payment, "--amount", "250.25"],
    ...["--account-type", "personal", "--account-number", "01812345678"],
  ]);
});

interface Reading {
  name: string;
  line: () => string[];
  quiet: () => string;
  /** The header of its CSV. */
  columns: string;
  isList?: boolean;
}

const readings: Reading[] = [
  {
    name: "methods",
    line: () => ["methods"],
    quiet: () => "665f1c2ab8e4\n665f1c2ab8e5\n665f1c2ab8e6",
    columns: "codeName,providerName,id",
    isList: true,
  },
  {
    name: "pay get",
    line: () => ["pay", "get", ids.payment],
    quiet: () => ids.payment,
    columns:
      "transactionId,status,amount,description,paymentMethod,createdAt,updatedAt,payment_url,refunded,refundPending,refundsDiffering",
  },
  {
    name: "payout get",
    line: () => ["payout", "get", ids.payout],
    quiet: () => ids.payout,
    columns:
      "payoutId,merchantRef,status,amount,recipientNumber,recipientName,description,createdAt,updatedAt",
  },
  {
    name: "payout send",
    line: () => "payout send --amount 500 --to 01712345678 --method bkash --ref INV-7".split(" "),
    quiet: () => ids.payout,
    columns:
      "payoutId,merchantRef,status,amount,recipientNumber,recipientName,description,createdAt,updatedAt,existing",
  },
  {
    name: "refund get",
    line: () => ["refund", "get", ids.refund],
    quiet: () => ids.refund,
    columns:
      "refundRequestId,transactionId,status,amount,accountType,accountNumber,note,createdAt,updatedAt",
  },
  {
    name: "sandbox info",
    line: () => ["sandbox", "info"],
    quiet: () => "",
    columns: "name,environment,baseUrl,payments,payouts,refunds",
  },
  {
    name: "profile list",
    line: () => ["profile", "list"],
    quiet: () => "",
    columns: "current,name,environment,baseUrl,apiKey",
    isList: true,
  },
];

describe.each(readings)("$name", ({ line, quiet, columns, isList = false }) => {
  test("has the same records in every format", async () => {
    const { code, stdout } = await account.run([...line(), "--json"]);
    expect(code).toBe(0);
    const json: unknown = JSON.parse(stdout);
    const records = [json].flat();
    expect(Array.isArray(json)).toBe(isList);
    const env = { LENDEN_OUTPUT: "json" };
    expect((await account.run(line(), { env })).stdout).toBe(stdout);
    const ndjson = (await account.run([...line(), "-o", "ndjson"])).stdout;
    const lines = ndjson.split("\n").slice(0, -1);
    expect(lines.map((one): unknown => JSON.parse(one))).toEqual(records);
    const csv = (await account.run([...line(), "-o", "csv"])).stdout;
    expect(csv.split("\r\n")[0]).toBe(columns);
    expect(csv.split("\r\n")).toHaveLength(records.length + 2);
  });

  test("prints only IDs with -q, one per line, in every format", async () => {
    for (const more of [[], ["-o", "csv"]]) {
      const { stdout } = await account.run([...line(), "-q", ...more]);
      expect(stdout.trim()).toBe(quiet());
    }
  });
});

test("amounts are grouped in tables, exact in csv and numbers in JSON, and csv has no formulas", async () => {
  const line = ["pay", "get", ids.payment];
  expect((await account.run(line)).stdout).toContain("BDT 1,250.50");
  expect((await account.run([...line, "-o", "csv"])).stdout).toContain(",1250.50,'=1+1,bKash,");
  expect(await account.json(line)).toMatchObject({ amount: 1250.5, description: "=1+1" });
});
