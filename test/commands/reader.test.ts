import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { readPage } from "../support/doc-pages.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, errorOf } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchantApart,
  paymentOf,
  payoutNumber,
  payoutOf,
} from "../support/merchant.ts";
import { isSkipped, serverTest, sharedCluster } from "../support/postgres.ts";
import { type Env, machine, teamLedger } from "../support/team-ledger.ts";

let merchant: Merchant;
/** Of an accountant, with an API key and the payout secret. */
let env: Env;
let database = "";
let statement = "";
let payrollFile = "";
/** A statement with a payout that another ledger has, and a payment of unknown outcome. */
let elsewhere = "";
let unknown = "";
const map = ["date", "id", "type", "amount"].flatMap((one) => ["--map", `${one}=${one}`]);

beforeAll(async () => {
  if (isSkipped) return;
  const cluster = await sharedCluster();
  const ledger = await teamLedger(cluster, "ann");
  const { url, reader } = ledger;
  database = ledger.database;
  const ill: Fault[] = [];
  merchant = await openMerchantApart({ faults: ill }, afterAll);
  const ann = machine(merchant, url("ann"));
  payrollFile = join(scratchFolder(), "payroll.csv");
  writeFileSync(payrollFile, "ref,amount,to,method\nROW-1,7,01912345678,bkash\n");
  for (const line of [payoutOf("SENT"), ["payout", "batch", "send", payrollFile, "--yes"]])
    expect(await built(line, { env: ann })).toMatchObject({ code: 0 });
  ill.push(...faults("createPayment:lost-reply"));
  expect(await built(paymentOf("tea"), { env: ann })).toMatchObject({ code: 75 });
  ill.splice(0);
  const shown = async (name: string) =>
    JSON.parse((await built(["ledger", "show", name, "--json"], { env: ann })).stdout);
  unknown = (await shown("@last")).operation;
  const day = new Date().toISOString().slice(0, 10);
  const written = (id: string) => {
    const file = join(scratchFolder(), `${id}.csv`);
    writeFileSync(file, `date,id,type,amount\n${day},${id},payout,-5\n`);
    return file;
  };
  [statement, elsewhere] = [
    written((await shown("SENT")).remoteId),
    written(await merchant.id(payoutNumber(3, "ELSEWHERE"))),
  ];
  env = machine(merchant, await reader("carol"));
});

const run = (line: string[]) => built(line, { env });

describe("a login that may only read the ledger", () => {
  serverTest.each([
    "report",
    "report --by recipient",
    "report --by user -o csv",
    "ledger list",
    "ledger list --unknown",
    "ledger show SENT",
    "ledger export",
    "ledger export -o hledger",
    "ledger check",
    "ledger processes",
    "pay list",
    "payout list",
    "payout list --columns merchantRef,login",
    "refund list",
    "callback list",
    "payout batch list",
    "payout batch status @last",
    "payout batch export @last",
  ])("can run %s", async (line) => {
    const { code, stderr } = await run(line.split(" "));
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
  });

  serverTest("can check the ledger, also without a key", async () => {
    const bare = { ...env, LENDEN_API_KEY: "", LENDEN_PAYOUT_SECRET: "", LENDEN_BASE_URL: "" };
    const { stdout } = await built(["ledger", "check", "--json"], { env: bare });
    expect(JSON.parse(stdout)).toMatchObject({ holds: true, modified: [], server: [] });
  });

  serverTest("can reconcile a statement, and import nothing", async () => {
    const read = await run(["reconcile", statement, ...map, "--yes"]);
    // The payout is not completed yet.
    expect(read).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^Period[\s\S]*differs: 1/),
    });
  });

  serverTest("is a warning of doctor", async () => {
    const { stdout } = await run(["doctor"]);
    expect(stdout).toContain("The login carol may only read the ledger.");
  });

  serverTest.each([
    ["payout send", () => payoutOf("NEW")],
    [
      "payout batch send",
      () => [
        "payout",
        "batch",
        "send",
        payrollFile,
        "--name",
        "again",
        "--allow-duplicates",
        "--yes",
      ],
    ],
    ["payout batch send, resumed", () => ["payout", "batch", "send", payrollFile, "--yes"]],
    ["payout batch cancel", () => ["payout", "batch", "cancel", "@last", "--yes"]],
    ["pay create", () => paymentOf("tea")],
    ["ledger resolve", () => ["ledger", "resolve", unknown, "--not-created"]],
    ["reconcile --import", () => ["reconcile", elsewhere, ...map, "--import", "--yes"]],
    ["callback listen", () => ["callback", "listen", "--port", "0"]],
  ])("cannot run %s", async (_, line) => {
    const before = (await merchant.moneyRequests()).length;
    const outcome = await run([...line(), "--json"]);
    expect([outcome.code, errorOf(outcome).reason]).toEqual([4, "ledger.access-denied"]);
    expect(errorOf(outcome).message).toContain("lenden_writer");
    expect(await merchant.moneyRequests()).toHaveLength(before);
  });
});

serverTest("the queries of docs/team-ledger.md run with a login that may only read", async () => {
  const [, block = ""] = /```sql\n(.*?)```/s.exec(readPage("docs/team-ledger.md")) ?? [];
  const queries = block.split(";").filter((one) => one.trim() !== "");
  const cluster = await sharedCluster();
  const client = await cluster.connect(database, { user: "carol" });
  const found = [];
  for (const sql of queries) {
    const own = sql.replace("'production'", "'sandbox'").replace("'INV-7'", "'SENT'");
    found.push((await client.query(own)).rows);
  }
  expect(found).toEqual([
    // None is completed yet.
    [],
    [expect.objectContaining({ id: unknown, kind: "payment", state: "UNCERTAIN", login: "ann" })],
    [
      expect.objectContaining({ login: "ann", kind: "payment", operations: "1" }),
      expect.objectContaining({ login: "ann", kind: "payout", operations: "2" }),
    ],
    [expect.objectContaining({ name: "payroll.csv", row_count: "1", accepted: "1" })],
    [
      expect.objectContaining({ event: "intent", login: "ann" }),
      expect.objectContaining({ event: "attempt", state: "CONFIRMED", login: "ann" }),
    ],
  ]);
});
