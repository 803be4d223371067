import { execFile, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder, todayInDhaka } from "../support/helpers.ts";
import { builtEnv, lenden } from "../support/lenden.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  openMerchantApart,
  otherMachine,
  paidPayment,
  paidPayout,
  paymentOf,
  payoutNumber,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";
import { toolLine } from "../tool.js";

/** A month of a shop: payments, payouts and a refund; the response to one payment is lost. */
async function openMonth(open = openMerchant, ledgerUrl?: string) {
  const ill: Fault[] = [];
  const merchant = await open({ faults: ill });
  if (ledgerUrl !== undefined) merchant.env.LENDEN_LEDGER_URL = ledgerUrl;
  const ids: Record<string, string> = {};
  for (const name of ["tea", "rice", "soap"]) {
    ids[name] = await paidPayment(merchant, name);
  }
  for (const [index, name] of ["INV-1", "INV-2", "INV-3", "INV-4"].entries()) {
    ids[name] = await paidPayout(merchant, payoutNumber(index, name));
  }
  ids.refund = await merchant.id(refundOf(ids.tea ?? "", "30"));
  await merchant.set("refund", ids.refund, "Completed");
  ill.push(...faults("createPayment:lost-reply"));
  expect(await merchant.lenden(paymentOf("lost"))).toMatchObject({ code: 75 });
  ill.length = 0;
  ids.lost = String((await merchant.books("payments")).at(-1)?.id);
  await merchant.set("payment", ids.lost, "Completed");
  return { merchant, ids };
}

/** A payout of the same merchant that another machine sent. */
async function payOutside(merchant: Merchant, reference: string): Promise<string> {
  const { LENDEN_LEDGER_URL: _, ...env } = otherMachine(merchant);
  const { stdout, stderr } = await lenden([...payoutNumber(77, reference), "-q"], { env });
  if (stdout === "") throw new Error(stderr);
  await merchant.set("payout", stdout.trim(), "Completed");
  return stdout.trim();
}

async function statementOf(merchant: Merchant, edit = (lines: string[]) => lines) {
  const { stdout } = await merchant.lenden(["sandbox", "statement"]);
  const file = join(merchant.dataFolder, "..", `statement-${Math.random()}.csv`);
  writeFileSync(file, edit(stdout.split("\r\n").filter(Boolean)).join("\n"));
  return file;
}

/** Lacks one payout, has one twice, and a wrong amount of a third. */
function wrongStatementOf(merchant: Merchant, ids: Record<string, string>): Promise<string> {
  return statementOf(merchant, (lines) =>
    lines.flatMap((line) => {
      if (line.includes(String(ids["INV-1"]))) return [];
      if (line.includes(String(ids["INV-2"]))) return [line, line];
      return line.includes(String(ids["INV-3"])) ? line.replace(",-5,", ",-5.01,") : line;
    }),
  );
}

async function reconciled(merchant: Merchant, file: string, ...more: string[]) {
  const args = ["reconcile", file, "--mapping", "provider", "--yes", "--json", ...more];
  const { code, stdout, stderr } = await merchant.lenden(args);
  if (stdout === "") throw new Error(stderr);
  const found = JSON.parse(stdout);
  /** What is not a plain match, by line. */
  const shown = found.lines
    .filter((one: Fields) => one.result !== "matched" && one.result !== "balance")
    .map((one: Fields) => [one.result, one.explained, one.id]);
  return { code, found, shown };
}

type Fields = Record<string, unknown>;

const exported = async (merchant: Merchant) =>
  (await merchant.lenden(["ledger", "export", "-o", "ndjson"])).stdout;

/** The script starts many processes. */
const scriptTime = { timeout: 240_000 };

/** Finds what is wrong with a statement, then closes the month with a whole one, by the script of an accountant. */
async function closeMonth({ merchant, ids }: Awaited<ReturnType<typeof openMonth>>) {
  const folder = scratchFolder();
  writeFileSync(join(folder, "lenden"), `#!/bin/sh\nexec ${toolLine} "$@"\n`, { mode: 0o755 });
  const close = (statement: string) => {
    const script = join(import.meta.dirname, "close-month.sh");
    const env = builtEnv({ ...merchant.env, PATH: `${folder}:${process.env.PATH}` });
    const run = promisify(execFile);
    return run("sh", [script, statement, folder], { env });
  };
  const outside = await payOutside(merchant, "OUT-1");
  const wrong = await wrongStatementOf(merchant, ids);
  const first = await close(wrong);
  expect(first.stdout).toMatch(/^reconcile: exit 5\n/);
  expect(first.stderr).toContain("The balance is wrong: line 6 shows");
  const differences = readFileSync(join(folder, "differences.csv"), "utf8").trim().split("\r\n");
  expect(differences.slice(1).map((line) => line.split(",").slice(0, 3))).toEqual([
    ["twice", "7", ids["INV-2"]],
    ["differs", "8", ids["INV-3"]],
    ["unknown-here", "11", ids.lost],
    ["only-in-statement", "12", outside],
    ["only-in-ledger", "", ids["INV-1"]],
  ]);

  const whole = await statementOf(merchant);
  const importing = ["reconcile", whole, "--mapping", "provider", "--import", "--record-fees"];
  expect(await merchant.lenden(importing)).toMatchObject({ code: 0 });
  const { stdout } = await close(whole);
  // Four payments, less a refund, five payouts and fees of 6.25.
  expect(stdout).toBe("reconcile: exit 0\naudit: exit 0\nnet: 338.75\n");
  expect(readFileSync(join(folder, "month.journal"), "utf8").match(/^2\S+ \* /gm)).toHaveLength(19);
}

describe("the end of a month", () => {
  test(
    "finds exactly what is wrong with a statement, and nothing the second time",
    scriptTime,
    async () => {
      const { merchant, ids } = await openMonth(openMerchantApart);
      const outside = await payOutside(merchant, "OUT-1");
      const file = await wrongStatementOf(merchant, ids);
      const first = await reconciled(merchant, file);
      expect(first.code).toBe(5);
      expect(first.shown).toEqual([
        ["twice", null, ids["INV-2"]],
        ["differs", null, ids["INV-3"]],
        ["unknown-here", "resolved", ids.lost],
        ["only-in-statement", null, outside],
      ]);
      expect(first.found).toMatchObject({
        onlyInLedger: [{ reference: "INV-1", amount: "5" }],
        lines: expect.arrayContaining([
          expect.objectContaining({
            id: ids["INV-3"],
            differences: [{ field: "amount", statement: "-5.01", ledger: "-5" }],
          }),
        ]),
        // The line that is missing is before the two that are wrong.
        balance: { opening: "100000", brokenAt: { line: 6 } },
      });

      const second = await reconciled(merchant, file);
      expect(second.shown).toEqual(
        first.shown.filter(([result]: string[]) => result !== "unknown-here"),
      );
      const before = await exported(merchant);
      expect((await reconciled(merchant, file)).shown).toEqual(second.shown);
      expect(await exported(merchant)).toBe(before);

      const whole = await statementOf(merchant);
      const imported = await reconciled(merchant, whole, "--import", "--record-fees");
      expect(imported).toMatchObject({
        code: 0,
        shown: [["only-in-statement", "imported", outside]],
        found: { onlyInLedger: [], balance: { brokenAt: null }, fees: "6.25" },
      });
      expect(await reconciled(merchant, whole, "--import")).toMatchObject({ code: 0, shown: [] });
      expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
      // Nothing has to be retrieved.
      await merchant.close();
      expect(await reconciled(merchant, whole)).toMatchObject({ code: 0, shown: [] });
    },
  );

  test("is closed by a script that finds exactly what is wrong", scriptTime, async () => {
    await closeMonth(await openMonth());
  });

  serverTest("is closed by the same script with PostgreSQL", scriptTime, async () => {
    const { url } = await teamLedger(await sharedCluster(), "bookkeeper");
    await closeMonth(await openMonth(openMerchant, url("bookkeeper")));
  });

  test("compares whole days, and the dates of lines", async () => {
    const { merchant, ids } = await openMonth();
    const without = (lines: string[]) =>
      lines.filter((line) => !line.includes(String(ids["INV-4"])));
    // The last line is from the first second of its day.
    const truncated = await statementOf(merchant, (lines) =>
      without(lines).map((line) => line.replace(/ \d\d:\d\d:\d\d/, " 00:00:00")),
    );
    expect((await reconciled(merchant, truncated)).found.onlyInLedger).toMatchObject([
      { reference: "INV-4" },
    ]);

    const earlier = await statementOf(merchant, (lines) =>
      lines.map((line) => line.replace(/^\d{4}-\d\d/, "2020-01")),
    );
    const { code, found } = await reconciled(merchant, earlier);
    expect({ code, found }).toMatchObject({
      code: 5,
      found: { results: { differs: { lines: 9 } } },
    });

    const span = ["--since", "2020-01-01", "--until", "2020-01-31"];
    const file = await statementOf(merchant);
    const { stderr, ...other } = await merchant.lenden(["reconcile", file, "--yes", ...span]);
    expect(other).toEqual({ code: 6, stdout: "No line differs from the ledger.\n" });
    expect(stderr).toContain("are outside the period (first: line 3,");
  });

  test("stores a mapping only if it can be read with", async () => {
    const { merchant } = await openMonth();
    const file = await statementOf(merchant);
    const args = ["reconcile", file, "--yes", "--mapping", "new"];
    expect(await merchant.lenden([...args, "--map", "Typo=ignore"])).toMatchObject({ code: 2 });
    expect(await merchant.lenden([...args, "--record-fees"])).toMatchObject({ code: 0 });
  });

  test("lists, completes and removes saved mappings, and two processes lose none", async () => {
    const { lenden: run } = await openMerchantApart();
    const file = join(scratchFolder(), "fees.csv");
    writeFileSync(file, "date,id,type,amount\n2026-11-20,F1,charge,-5\n");
    const map = ["date", "id", "type", "amount"].flatMap((one) => ["--map", `${one}=${one}`]);
    const names = ["a", "b/../c", "d"];
    await Promise.all(names.map((name) => run(["reconcile", file, ...map, "--mapping", name])));
    const listed = async () => (await run(["mapping", "list", "-q"])).stdout.split("\n");
    expect(await listed()).toEqual([...names, ""]);
    for (const line of [
      ["reconcile", "--mapping"],
      ["mapping", "show"],
    ]) {
      const tab = await run(["__complete", "--typed=", ...line]);
      expect(tab.stdout).toContain("a\t\nd\t\n");
    }
    expect(JSON.parse((await run(["mapping", "show", "a", "--json"])).stdout)).toEqual({
      ...{ name: "a", kind: "statement", sheet: null },
      columns: ["date", "id", "type", "amount"].map((one) => ({ column: one, field: one })),
    });
    expect(await run(["mapping", "remove", "b/../c"])).toMatchObject({ code: 0 });
    expect(await listed()).toEqual(["a", "d", ""]);
    for (const verb of ["show", "remove"])
      expect(await run(["mapping", verb, "x"])).toMatchObject({ code: 2 });
    expect(await run(["reconcile"])).toMatchObject({ code: 2 });
  });

  test("shows 50 lines in a table, and all in CSV", async () => {
    const merchant = await openMerchant();
    const file = join(scratchFolder(), "long.csv");
    const rows = Array.from({ length: 60 }, (_, at) => `2026-11-20,U${at},5.00,..\n`);
    // The column names are no words that lenden knows.
    writeFileSync(file, `দিন,নম্বর,টাকা,কাজ\n${rows.join("")}`);
    const map = ["দিন=date", "নম্বর=id", "টাকা=amount"].flatMap((one) => ["--map", one]);
    const [shown, csv] = await Promise.all(
      ["table", "csv"].map((output) =>
        merchant.lenden(["reconcile", file, ...map, "--output", output]),
      ),
    );
    expect(shown?.stderr).toContain("50 of 60 shown.");
    expect(shown?.stderr).toContain(
      "60 lines of long.csv are not in the ledger (first: line 2, BDT 5.00).",
    );
    expect(shown?.stdout.trim().split("\n")).toHaveLength(51);
    expect(csv?.stdout.trim().split("\n")).toHaveLength(61);
  });

  test("rebuilds a lost ledger, which prevents duplicates as before", async () => {
    const { merchant, ids } = await openMonth();
    const file = await statementOf(merchant);
    rmSync(merchant.ledgerFile);
    expect(await merchant.lenden(["ledger", "check", "--accept", "--yes"])).toMatchObject({
      code: 0,
    });
    const rebuilt = await reconciled(merchant, file, "--import", "--record-fees");
    expect(rebuilt).toMatchObject({
      code: 0,
      found: { results: { "only-in-statement": { lines: 9 } } },
    });
    const operations = JSON.parse(`[${(await exported(merchant)).trim().replaceAll("\n", ",")}]`);
    expect(operations.map((one: Fields) => [one.remoteId, one.kind, one.status])).toEqual(
      expect.arrayContaining([
        [ids.tea, "payment", "Completed"],
        [ids["INV-4"], "payout", "Completed"],
        [ids.refund, "refund", "Completed"],
      ]),
    );

    // The reference is not paid again, and the refund counts.
    const again = await merchant.lenden([...payoutNumber(3, "INV-4"), "--json"]);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ payoutId: ids["INV-4"], existing: true });
    const other = payoutNumber(9, "INV-4", "--json");
    expect(await merchant.lenden(other)).toMatchObject({ code: 5 });
    expect(await merchant.lenden(refundOf(ids.tea ?? "", "71"))).toMatchObject({ code: 3 });
    expect(await merchant.count("payouts")).toBe(4);
    expect(await merchant.count("refunds")).toBe(1);
    const audit = await merchant.lenden(["ledger", "audit", "--json"]);
    expect(audit.code).toBe(0);
    expect(JSON.parse(audit.stdout)).toHaveLength(9);
  });

  test("audits every operation, and a script without code of lenden agrees", async () => {
    const { merchant, ids } = await openMonth();
    await merchant.lenden(["payout", "list", "--refresh"]);
    await inDatabase(merchant.booksFile, (books) => {
      const change = (id: string | undefined, what: string) =>
        books
          .prepare(`UPDATE records SET body = json_set(body, ${what}) WHERE id = ?`)
          .run(String(id));
      change(ids["INV-2"], "'$.amount', 5.01");
      change(ids.refund, "'$.accountNumber', '01812345679'");
      books.prepare("DELETE FROM records WHERE id = ?").run(String(ids["INV-3"]));
    });
    const before = await exported(merchant);
    const { code, stdout } = await merchant.lenden(["ledger", "audit", "--json"]);
    expect(code).toBe(5);
    const rows: Fields[] = JSON.parse(stdout);
    expect(rows).toHaveLength(8);
    const differing = rows.filter(({ result }) => result !== "same");
    // What was completed since is the status of the others.
    expect(differing.filter(({ kind }) => kind !== "payment")).toMatchObject([
      { remoteId: ids["INV-2"], differences: [{ field: "amount", ledger: "5", api: "5.01" }] },
      { remoteId: ids["INV-3"], result: "not-found" },
      { remoteId: ids.refund, differences: [{ field: "status" }, { field: "account" }] },
    ]);
    expect(await exported(merchant)).toBe(before);
    const sample = await merchant.lenden(["ledger", "audit", "--sample", "3", "--json"]);
    expect(JSON.parse(sample.stdout)).toHaveLength(3);

    const verify = (report: unknown, ...more: string[]) => {
      const audit = join(merchant.dataFolder, "audit.json");
      const ledger = join(merchant.dataFolder, "ledger.ndjson");
      writeFileSync(audit, JSON.stringify(report));
      writeFileSync(ledger, before);
      const script = join(import.meta.dirname, "../../scripts/verify-audit.js");
      return spawnSync(process.execPath, [script, audit, ledger, ...more], { encoding: "utf8" });
    };
    expect(verify(rows)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^8 operations: BDT [\d.]+ in the ledger, .* 0 problems/),
    });
    expect(verify([])).toMatchObject({ status: 1, stdout: expect.stringContaining("8 problems") });
    expect(verify([], "--partial").status).toBe(0);
    expect(verify("x")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^.* is no .*\n$/),
    });
    const moved = rows.map((row) =>
      row.kind === "payout"
        ? { ...row, ledger: Object.assign({}, row.ledger, { recipient: "01712345699" }) }
        : row,
    );
    expect(verify(moved).stdout).toContain("the report has recipient 01712345699, the ledger has");
    const hidden = rows.map((row) => ({ ...row, result: "same", differences: [] }));
    expect(verify(hidden)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("found amount"),
    });
  });

  test("does not import a payment that one of two unknown payments may be", async () => {
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill });
    ill.push(...faults("createPayment:lost-reply"));
    for (const more of [[], ["--again"]])
      expect(await merchant.lenden(paymentOf("tea", ...more))).toMatchObject({ code: 75 });
    for (const { id } of await merchant.books("payments"))
      await merchant.set("payment", String(id), "Completed");
    const { code, shown } = await reconciled(merchant, await statementOf(merchant), "--import");
    expect({ code, shown }).toEqual({
      code: 6,
      shown: [
        ["unknown-here", null, expect.any(String)],
        ["unknown-here", null, expect.any(String)],
      ],
    });
    const operations = await merchant.lenden(["ledger", "list", "--unknown", "-q"]);
    expect(operations.stdout.trim().split("\n")).toHaveLength(2);
  });

  test("accepts a proposal with a reason, once and for all", async () => {
    const merchant = await openMerchant();
    await paidPayout(merchant, payoutOf("INV-1"));
    const file = join(merchant.dataFolder, "by-hand.csv");
    const day = todayInDhaka();
    const rows = ["01712345678", "01812345678", "01712345678"].map(
      (to) => `${day},${to},(5.00),..\n`,
    );
    writeFileSync(file, `Day,Number,Amount,Trx\n${rows.join("")}`);
    const map = ["Day=date", "Number=recipient", "Amount=amount", "Trx=id"].flatMap((one) => [
      "--map",
      one,
    ]);
    const args = ["reconcile", file, ...map, "--json"];
    const open = await merchant.lenden([...args, "--import"]);
    expect(open.code).toBe(6);
    // Columns that are only recognized need a person, or --yes.
    expect(await merchant.lenden(["reconcile", file])).toMatchObject({ code: 4, stdout: "" });
    const counts = ({ lines }: { lines: { proposals: Fields[] }[] }) =>
      lines.map(({ proposals }) => proposals.map((one) => one.operation));
    const { onlyInLedger, ...found } = JSON.parse(open.stdout);
    const [{ operation }] = onlyInLedger;
    expect(counts(found)).toEqual([[operation], [], [operation]]);
    const span = ["--since", "2020-01-01", "--until", "2020-01-31"];
    const earlier = JSON.parse((await merchant.lenden([...args, ...span])).stdout);
    expect({ ...earlier, proposals: counts(earlier) }).toMatchObject({
      ...{ onlyInLedger: [], proposals: [[], [], []] },
    });
    const wrong = await merchant.lenden([...args, "--accept", "3=INV-1:no"]);
    expect(wrong).toMatchObject({ code: 2 });
    const accepted = [...args, "--accept", "4=INV-1:paid at the counter"];
    for (const _ of ["once", "twice"])
      expect(JSON.parse((await merchant.lenden(accepted)).stdout)).toMatchObject({
        lines: [{ explained: null }, { explained: null }, { explained: "accepted" }],
        onlyInLedger: [],
      });
    const again = JSON.parse((await merchant.lenden(args)).stdout);
    expect(again.lines[2]).toMatchObject({
      explained: "accepted",
      reason: "paid at the counter (by tester)",
    });
    expect(again.onlyInLedger).toEqual([]);
    // The same line, written in another way.
    const other = rows.join("").replaceAll("01712345678", "+88 01712-345678");
    writeFileSync(file, `Day,Number,Amount,Trx\n${other.replaceAll("(5.00)", "-5")}`);
    expect(JSON.parse((await merchant.lenden(args)).stdout).lines[2]).toMatchObject({
      explained: "accepted",
    });
    // A payout explains one debit, not another one in the next statement.
    writeFileSync(file, `Day,Number,Amount,Trx\n${day},01712345678,(5.00),x9\n`);
    const next = JSON.parse((await merchant.lenden(args)).stdout);
    expect(next).toMatchObject({ lines: [{ proposals: [] }], onlyInLedger: [{ operation }] });
    const { stdout } = await merchant.lenden(["ledger", "show", "INV-1"]);
    expect(stdout).toContain("01712345678, BDT -5 by tester: paid at the counter");
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  });

  serverTest("rebuilds a ledger on PostgreSQL", async () => {
    const { merchant } = await openMonth();
    const { url } = await teamLedger(await sharedCluster(), "accountant");
    const env = machine(merchant, url("accountant"));
    const file = await statementOf(merchant);
    const run = async (...more: string[]) =>
      lenden(["reconcile", file, "--yes", "--json", ...more], { env });
    const { code, stdout, stderr } = await run("--import", "--record-fees");
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout).results["only-in-statement"].lines).toBe(9);
    expect(await run()).toMatchObject({ code: 0 });
    expect(await lenden(["ledger", "check"], { env })).toMatchObject({ code: 0 });
    const again = await lenden([...payoutNumber(3, "INV-4"), "--json"], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ existing: true });
    expect(await merchant.count("payouts")).toBe(4);
  });
});
