import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";
import {
  type Export,
  exportedBytes,
  exportedText,
  strictlyRead,
  utf8Exports,
  writtenCsv,
} from "./csv-files.ts";
import { examiner, exported, fileOf } from "./files.ts";

const header = ["ref", "amount", "to", "method", "name", "description"];

/** Payouts as the API gets them. Each begins in a way that a spreadsheet or an export changes. */
const payouts = [
  ["000123", "5.50", "01712345678", "Rahima", "plain"],
  ["_A-1", "6", "01712345679", "=HYPERLINK(1)", "+1 @ 2"],
  ["A2", "7", "01812345678", "@Mina", "-"],
  ["A3", "8", "01912345678", "'Abdul", "'"],
  ["A4", "9", "01312345678", "'=Das", "''-x"],
  ["A5", "10.05", "01312345679", 'রহিমা; "Moon"', "0123"],
];

/** What a person has to type for them: an apostrophe more, if one stands before a formula. */
const typed = payouts.map(([ref = "", amount = "", to = "", name = "", description = ""]) => {
  const cell = (text: string) => (/^'+[=+\-@]/.test(text) ? `'${text}` : text);
  return [ref, amount, ref === "A2" ? `+88${to}` : to, "bkash", cell(name), cell(description)];
});

const booked = payouts.map(([ref, amount, to, name, description]) => ({
  merchantRef: ref,
  amountPaisa: BigInt(Math.round(Number(amount) * 100)),
  recipientNumber: to,
  recipientName: name,
  description,
}));

const original = () =>
  fileOf(
    writtenCsv([header, ...typed], { delimiter: ",", ends: ["\n"], quotes: [false], isEnded: true })
      .text,
  );

test("an export that a spreadsheet saved is the same batch: nothing is sent again", async () => {
  const merchant = await openMerchant();
  const path = original();
  expect((await send(merchant, path, ",")).code).toBe(0);
  const text = await exported(merchant, path);
  for (const how of utf8Exports) {
    const copy = fileOf(savedBy(how, text), "copy.csv");
    const checked = await batch(merchant, "check", copy, how.delimiter);
    expect([how.program, checked.code, JSON.parse(checked.stdout)]).toMatchObject([
      ...[how.program, 0],
      { rows: 6, total: "45.55", sentBefore: { rows: 6, total: "45.55" }, problemCount: 0 },
    ]);
  }
  for (const how of utf8Exports.slice(0, 3)) {
    const copy = fileOf(savedBy(how, text), "copy.csv");
    expect((await send(merchant, copy, how.delimiter)).code).toBe(0);
  }
  expect(await books(merchant)).toEqual(booked);
});

test("failed rows that a spreadsheet saved are sent as they were meant, once", async () => {
  const ill = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  const path = original();
  expect((await send(merchant, path, ",")).code).toBe(6);
  ill.splice(0);
  const failed = await exported(merchant, path, "--only", "failed");
  for (const how of utf8Exports.slice(0, 3)) {
    const copy = fileOf(savedBy(how, failed), "x.csv");
    expect((await send(merchant, copy, how.delimiter)).code).toBe(0);
  }
  expect(await books(merchant)).toEqual(
    booked.map((one) => ({ ...one, merchantRef: `${one.merchantRef}-lenden2` })),
  );
});

test("an export of rows that are still unsent sends them under their own references", async () => {
  const ill = faults("createPayout:status-401");
  const merchant = await openMerchant({ faults: ill });
  const path = original();
  expect((await send(merchant, path, ",")).code).toBe(4);
  ill.splice(0);
  const copy = fileOf(await exported(merchant, path));
  expect((await send(merchant, copy, ",")).code).toBe(0);
  expect((await send(merchant, path, ",")).code).toBe(0);
  expect(await books(merchant)).toEqual(booked);
});

test("a file without references is the same batch after its export was saved", async () => {
  const merchant = await openMerchant();
  const path = fileOf(
    "amount,to,method,name\n5,+8801712345678,bkash,=1\n6,01812345678,bkash,'=2\n",
  );
  expect((await send(merchant, path, ",")).code).toBe(0);
  const before = await books(merchant);
  const text = await exported(merchant, path);
  for (const how of utf8Exports.slice(0, 3))
    expect((await send(merchant, fileOf(savedBy(how, text)), how.delimiter)).code).toBe(0);
  expect(await books(merchant)).toEqual(before);
  expect(before.map(({ recipientName }) => recipientName)).toEqual(["=1", "=2"]);
});

const results = "payoutId,state,status,code,message,sentAt,updatedAt";

test.each([
  ["without references", `amount,to,method,${results}`, "payoutId"],
  ["without all of them", `ref,amount,to,method,${results.replace(",sentAt", "")}`, "payoutId"],
  ["with one of them twice", `ref,amount,to,method,${results},state`, "state"],
  ["with one of their names in other letters", `ref,amount,to,method,Status,${results}`, "Status"],
])("the columns of an export are rejected %s", async (_, columns, column) => {
  const row = columns.split(",").map(() => "x");
  const { findings } = await examiner()(`${columns}\n${row}\n`);
  expect(findings[0]).toMatchObject({ kind: "cell", line: 1, column });
});

test("a line of an export that lost cells is rejected, whatever it still contains", async () => {
  const text = `ref,amount,to,method,${results}\nA,5,01712345678,bkash\n`;
  expect((await examiner()(text)).findings).toMatchObject([
    { line: 2, problem: "This line has 4 cells, the header has 11." },
  ]);
});

test("a sent row whose reference a spreadsheet changed is rejected, also with --allow-duplicates", async () => {
  const merchant = await openMerchant();
  const path = original();
  expect((await send(merchant, path, ",")).code).toBe(0);
  const changed = (await exported(merchant, path)).replace('"000123"', "123");
  const copy = fileOf(changed, "x.csv");
  const line = ["payout", "batch", "send", copy, "--allow-duplicates"];
  const { code, stderr } = await merchant.lenden(line);
  expect(code).toBe(2);
  expect(stderr).toContain('line 2, ref "123": The export shows this row as sent, but the ledger');
  expect(await books(merchant)).toEqual(booked);
});

test("ledger export and batch template guard their cells too; --exact does not", async () => {
  const merchant = await openMerchant();
  expect((await send(merchant, original(), ",")).code).toBe(0);
  const ledger = await merchant.lenden(["ledger", "export"]);
  expect(ledger.stdout).toContain(",'=HYPERLINK(1),");
  expect((await merchant.lenden(["ledger", "export", "--exact"])).stdout).toContain(
    ",=HYPERLINK(1),",
  );
  const template = await merchant.lenden(["payout", "batch", "template", "--method", "=1+1"]);
  expect(template.stdout).toContain(",'=1+1,Rahima");
});

/** As a spreadsheet saves a CSV file that it opened: numbers rewritten, an apostrophe kept. */
function savedBy(how: Export, text: string): Buffer {
  const { records, isWhole } = strictlyRead(text, ",");
  expect(isWhole).toBe(true);
  const table = records.map(({ cells }) =>
    cells.map((cell) => (/^[1-9][0-9]*\.[0-9]*0$/.test(cell) ? String(Number(cell)) : cell)),
  );
  for (const cell of table.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  return exportedBytes(exportedText(table, how), how);
}

function batch(merchant: Merchant, command: string, path: string, delimiter: string) {
  return merchant.lenden([
    ...["payout", "batch", command, path, "--delimiter", delimiter],
    "--json",
  ]);
}

function send(merchant: Merchant, path: string, delimiter: string) {
  return batch(merchant, "send", path, delimiter);
}

/** What the API has, in the order of the rows. */
async function books(merchant: Merchant) {
  const all = await merchant.books("payouts");
  return all
    .map(({ merchantRef, amountPaisa, recipientNumber, recipientName, description }) => ({
      merchantRef,
      amountPaisa,
      recipientNumber,
      recipientName,
      description,
    }))
    .toSorted((one, other) => Number(one.amountPaisa) - Number(other.amountPaisa));
}
