import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { type Merchant, openMerchant, otherMachine, paidPayout } from "../support/merchant.ts";

let merchant: Merchant;

beforeEach(async () => {
  merchant = await openMerchant({}, onTestFinished);
  for (const [ref = "", amount = "", to = ""] of [
    ["FLD-1", "1250.50", "01712345678"],
    ["FLD-2", "500", "01812345678"],
  ]) {
    const what = ["--amount", amount, "--to", to, "--method", "bkash", "--yes"];
    await paidPayout(merchant, ["payout", "send", "--ref", ref, ...what]);
  }
});

const days = ["--since", "today", "--until", "today"];

function statement(lines: string[]): string {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, lines.join("\n"));
  return file;
}

async function reconciled(file: string, ...more: string[]) {
  const mapping = more.includes("--mapping") ? [] : ["--mapping", "bank"];
  const line = ["reconcile", file, ...days, ...mapping, "--json", "--yes", ...more];
  const { code, stdout, stderr } = await merchant.lenden(line);
  const found: { lines?: { line: number; explained: string | null; reason: string | null }[] } =
    JSON.parse(stdout || "{}");
  const explained = found.lines?.filter((one) => one.explained);
  return { code, stderr, explained: explained?.map(({ line, reason }) => `${line} ${reason}`) };
}

/** The net of the report, and of the balance of the journal. */
async function netOf(): Promise<{ net: string; entries: string }> {
  const { accounts } = JSON.parse((await merchant.lenden(["report", "--json"])).stdout);
  const [{ total }] = accounts;
  return { net: total.net, entries: total.entries.amount };
}

const columns = "Reference,Particulars,Debit,Credit,Balance";
const lines = [
  columns,
  "DEP-1,Fund transfer,,200000,200000",
  "FLD-1,Disbursement,1250.50,,198749.50",
  "FLD-2,Disbursement,500,,198249.50",
  "SET-1,Settlement,50000,,148249.50",
];
const both = ["--explain", "2=top-up:our bank", "--explain", "5=settlement:to our bank"];

describe("reconcile --explain", () => {
  test("explains lines once: the same statement finds the entries, and books have them", async () => {
    const file = statement(lines);
    expect(await reconciled(file)).toMatchObject({ code: 6, explained: [] });
    const explained = ["2 top-up: our bank (by tester)", "5 settlement: to our bank (by tester)"];
    expect(await reconciled(file, ...both)).toMatchObject({ code: 0, explained });
    expect(await reconciled(file, ...both)).toMatchObject({ code: 0, explained });
    expect(await reconciled(file)).toMatchObject({ code: 0, explained });
    // 2,00,000 - 1,250.50 - 500 - 50,000: the closing balance.
    expect(await netOf()).toEqual({ net: "148249.5", entries: "150000" });
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
    const { stdout } = await merchant.lenden(["ledger", "export", "--json"]);
    const rows = JSON.parse(stdout).filter(({ kind }: { kind: string }) => kind === "entry");
    expect(rows).toMatchObject([
      { status: "top-up", amount: "200000", message: expect.stringContaining("our bank") },
      { status: "settlement", amount: "-50000" },
    ]);
  });

  test("replaces what was explained before", async () => {
    const file = statement(lines);
    await reconciled(file, ...both);
    const { explained } = await reconciled(file, "--explain", "2=other:a loan");
    expect(explained?.[0]).toBe("2 other: a loan (by tester)");
    expect(await netOf()).toMatchObject({ entries: "150000" });
  });

  test("withdraws what was explained, with a reason", async () => {
    const file = statement(lines);
    await reconciled(file, ...both);
    expect(await reconciled(file, "--explain", "2=none:it was a loan")).toMatchObject({ code: 6 });
    expect(await reconciled(file)).toMatchObject({
      code: 6,
      explained: ["5 settlement: to our bank (by tester)"],
    });
    expect(await netOf()).toMatchObject({ entries: "-50000" });
    const again = await reconciled(file, "--explain", "2=other:a loan");
    expect(again).toMatchObject({ code: 0 });
    expect(await netOf()).toMatchObject({ entries: "150000" });
  });

  test("shows an entry that a corrected statement lacks, until it is withdrawn", async () => {
    await reconciled(statement(lines), ...both);
    const corrected = lines.filter((line) => !line.startsWith("SET-1"));
    const file = statement(corrected);
    const table = ["reconcile", file, ...days, "--yes", "--mapping"];
    const open = await merchant.lenden([...table, "bank"]);
    const [key = ""] = /[\w-]{43}(?=:<reason>)/.exec(open.stderr) ?? [];
    expect(open).toMatchObject({ code: 6, stderr: expect.stringContaining("1 entry of the") });
    expect(open.stdout).toContain("settlement: to our bank (by tester), from s.csv, line 5: SET-1");
    const only = { entry: key, category: "settlement", amount: "-50000", reason: "to our bank" };
    const { entriesOnlyInLedger } = JSON.parse(
      (await merchant.lenden([...table, "bank", "--json"])).stdout,
    );
    expect(entriesOnlyInLedger).toMatchObject([only]);
    // Those of another mapping are of another statement.
    expect((await merchant.lenden([...table, "wallet"])).stderr).not.toContain("entry of the");
    const withdrawal = `--withdraw=${key}:reissued`;
    expect(await reconciled(file, withdrawal)).toMatchObject({ code: 0 });
    expect(await netOf()).toEqual({ net: "198249.5", entries: "200000" });
    expect(await reconciled(file, withdrawal)).toMatchObject({ code: 2 });
  });

  test("records no entry again that another mapping, or none, recorded", async () => {
    const file = statement([
      "Reference,Particulars,Debit,Credit,Fee",
      ...["DEP-1,Fund transfer,,200000,", "FLD-1,Disbursement,1250.50,,5.00"],
      "FLD-2,Disbursement,500,,7.50",
    ]);
    const topUp = ["--explain", "2=top-up:our bank"];
    expect(await reconciled(file, ...topUp, "--record-fees")).toMatchObject({ code: 0 });
    const without = ["reconcile", file, ...days, "--yes", "--map", "Particulars=ignore"];
    const named = expect.stringContaining(`lenden reconcile ${file} --mapping bank`);
    for (const flags of [topUp, ["--record-fees"]])
      expect(await merchant.lenden([...without, ...flags])).toMatchObject({
        code: 2,
        stderr: named,
      });
    const open = await merchant.lenden(without);
    expect(open).toMatchObject({ code: 6, stderr: named });
    expect(open.stdout).toContain("explained under mapping bank");
    expect(open.stderr).not.toContain("--explain");
    expect(open.stderr).not.toContain("--record-fees");
    expect(await netOf()).toMatchObject({ entries: "199987.5" });
  });

  test("finds the entries again after the mapping of renamed columns was removed", async () => {
    await reconciled(statement(lines), ...both);
    const renamed = statement([
      lines[0]?.replace("Debit,Credit", "Withdrawal,Deposit") ?? "",
      ...lines.slice(1),
    ]);
    const old = await reconciled(renamed);
    expect(old).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("lenden mapping show bank"),
    });
    const removing = /lenden (mapping remove bank)/.exec(old.stderr)?.[1]?.split(" ") ?? [];
    expect(await merchant.lenden(removing)).toMatchObject({ code: 0 });
    expect(await reconciled(renamed)).toMatchObject({ code: 0 });
  });

  test("shows the entry of a fee that has changed", async () => {
    const rows = (fee: string) =>
      statement(["Reference,Debit,Fee", `FLD-1,1250.50,${fee}`, "FLD-2,500,7.50"]);
    await reconciled(rows("5.00"), "--record-fees");
    const stderr = expect.stringContaining(
      "1 entry of the ledger is not in s.csv (fee, BDT -5.00)",
    );
    expect(await reconciled(rows("6.00"))).toMatchObject({ code: 6, stderr });
    expect(await reconciled(rows("6.00"), "--record-fees")).toMatchObject({ code: 0 });
    expect(await netOf()).toMatchObject({ entries: "-13.5" });
  });

  test.each([
    ["a line that is not there", "9=fee:x", "no line 9"],
    ["a line of an operation", "3=fee:x", "line 3 is matched"],
    ["a category that is none", "2=fees:x", "fee, top-up, settlement, interest, other, none"],
    ["no reason", "2=fee:", "<line>=<category>:<reason>"],
    ["an entry that is not there", "2=none:x", "no entry"],
  ])("rejects %s, and records nothing", async (_, wrong, named) => {
    const file = statement(lines);
    const { code, stderr } = await reconciled(file, ...both.slice(2), "--explain", wrong);
    expect(code).toBe(2);
    expect(stderr.replaceAll('\\"', '"')).toContain(named);
    expect(await reconciled(file)).toMatchObject({ code: 6, explained: [] });
  });

  test("needs --yes without a terminal", async () => {
    const file = statement(lines);
    await reconciled(file);
    const line = ["reconcile", file, ...days, "--mapping", "bank", ...both];
    expect(await lenden(line, { env: merchant.env })).toMatchObject({ code: 4 });
    expect(await reconciled(file)).toMatchObject({ explained: [] });
  });

  test("does not explain a line with another amount, day or mapping", async () => {
    await reconciled(statement(lines), ...both);
    const other = lines.map((line) => line.replace("200000,200000", "200001,200001"));
    expect((await reconciled(statement(other))).explained).toEqual([
      "5 settlement: to our bank (by tester)",
    ]);
    expect(await reconciled(statement(lines), "--mapping", "wallet")).toMatchObject({
      ...{ code: 6, explained: [] },
    });
  });

  test("contradicts an entry of a line that is an operation now", async () => {
    const what = ["--amount", "5", "--to", "01612345678", "--method", "bkash", "--yes", "-q"];
    const env = otherMachine(merchant);
    const { stdout } = await lenden(["payout", "send", "--ref", "OUT-1", ...what], { env });
    await merchant.set("payout", stdout.trim(), "Completed");
    const sent = (await merchant.books("payouts")).map(({ id, amount }) => `${id},${amount}`);
    const file = statement(["ID,Debit", ...sent]);
    expect(await reconciled(file, "--explain", "4=other:paid by hand")).toMatchObject({ code: 0 });
    const imported = await reconciled(file, "--import");
    expect(imported).toMatchObject({ code: 5, stderr: expect.stringContaining("4=none:<reason>") });
    expect(await reconciled(file)).toMatchObject({ code: 5 });
    expect(await reconciled(file, "--explain", "4=none:imported")).toMatchObject({ code: 0 });
    expect(await netOf()).toEqual({ net: "-1755.5", entries: "0" });
  });

  test("tells two equal lines apart", async () => {
    const twice = [
      columns,
      "X,Bonus,,5,",
      "X,Bonus,,5,",
      ...lines.slice(2, 4).map((one) => one.replace(/[^,]*$/, "")),
    ];
    const file = statement(twice);
    await reconciled(file, "--explain", "2=interest:a bonus");
    expect(await reconciled(file)).toMatchObject({
      code: 6,
      explained: ["2 interest: a bonus (by tester)"],
    });
  });
});

test("reconcile --accept-unique accepts each line with one proposal, of an operation of its own", async () => {
  const own = ["Trx ID,Receiver,Amount", "W1,01712345678,-1250.50", "W2,01812345678,-500"];
  const file = statement(own);
  const accept = ["--accept-unique", "--reason", "same number and amount"];
  expect(await reconciled(file)).toMatchObject({ code: 6 });
  expect(await reconciled(file, "--accept-unique")).toMatchObject({ code: 2 });
  const table = ["reconcile", file, ...days, "--mapping", "bank", "--yes", ...accept];
  for (const count of [2, 0]) {
    const stderr = expect.stringContaining(`Accepted ${count} lines with exactly one proposal.`);
    expect(await merchant.lenden(table)).toMatchObject({ code: 0, stderr });
  }
  expect(await reconciled(file)).toMatchObject({ code: 0 });
  const equal = statement([...own, "W3,01812345678,-500"]);
  expect(await reconciled(equal, ...accept)).toMatchObject({ code: 6 });
});

test("a line is accepted or explained, not both", async () => {
  const file = statement(["Trx ID,Receiver,Amount", "W4,01912345678,-125000"]);
  const explain = ["--explain", "2=other:ticket 5"];
  const accept = ["--accept", "2=FLD-3:by hand"];
  expect(await reconciled(file, ...accept, ...explain)).toMatchObject({ code: 2 });
  await reconciled(file, ...explain, "--accept-unique", "--reason", "same number");
  expect((await reconciled(file)).explained).toEqual(["2 other: ticket 5 (by tester)"]);
  await reconciled(file, "--explain", "2=none:wrong");
});

test("a proposal names what a person knows, also of a payment by its payer", async () => {
  const what = ["--amount", "75", "--description", "Order 7", "--method", "bkash"];
  const id = await merchant.id(["pay", "create", ...what, "--payer", "01612345678"]);
  await merchant.set("payment", id, "Completed");
  await merchant.lenden(["pay", "get", id]);
  const rows = ["ID,Party,Amount", "W1,01612345678,75", "W2,01712345678,-1250.50", "FLD-2,,-500"];
  const line = ["reconcile", statement(rows), ...days, "--yes", "--json", "--map", "ID=reference"];
  const { stdout } = await merchant.lenden([...line, "--map", "Party=recipient"]);
  const { lines: found = [] } = JSON.parse(stdout || "{}");
  expect(found).toMatchObject([
    { proposals: [{ reference: id, recipient: "01612345678", name: "Order 7" }] },
    { proposals: [{ reference: "FLD-1", recipient: "01712345678" }] },
    { proposals: [] },
  ]);
});

test("reconcile --record-fees records the fees of columns and of lines once", async () => {
  const file = statement([
    ...["Reference,Particulars,Debit,Credit,Fee", "FLD-1,Disbursement,1250.50,,5.00"],
    ...["FLD-2,Disbursement,500,,7.50", "C-1,Service charge,15,,"],
  ]);
  const stderr = expect.stringContaining("3 fees are not in the ledger, but in s.csv: BDT 27.50.");
  expect(await reconciled(file)).toMatchObject({ code: 6, stderr });
  const ignored = ["--mapping", "other", "--map", "Fee=ignore", "--map", "Particulars=ignore"];
  expect((await reconciled(file, ...ignored)).stderr).not.toContain("not in the ledger, but");
  expect(await reconciled(file, "--record-fees")).toMatchObject({ code: 0 });
  expect(await netOf()).toMatchObject({ entries: "-27.5" });
  expect(await reconciled(file, "--record-fees")).toMatchObject({ code: 0 });
  expect(await netOf()).toEqual({ net: "-1778", entries: "-27.5" });
});

test("reconcile --record-fees records nothing if a fee has another sign than most", async () => {
  const rows = ["FLD-1,1250.50,5.00", "FLD-2,500,-5.00", "X-1,7,5.00"];
  const file = statement(["Reference,Debit,Fee", ...rows]);
  const { code, stderr } = await reconciled(file, "--record-fees");
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("on line 3") });
  expect(await netOf()).toMatchObject({ entries: "0" });
});

const hledger = "/usr/bin/hledger";
test.skipIf(!existsSync(hledger))(
  "hledger reads the journal with entries in strict mode",
  async () => {
    await reconciled(statement(lines), ...both);
    const { stdout: input } = await merchant.lenden(["ledger", "export", "-o", "hledger"]);
    const run = (...args: string[]) =>
      spawnSync(hledger, ["-f", "-", ...args], { input, encoding: "utf8" });
    expect(run("check", "--strict")).toMatchObject({ status: 0, stderr: "" });
    expect(run("balance", "assets:provider", "-N").stdout).toContain("148249.50");
    expect(run("balance", "assets:bank", "-N").stdout).toContain("-150000.00");
  },
);
