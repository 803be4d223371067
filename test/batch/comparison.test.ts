import { expect, test } from "vitest";
import { type Merchant, openMerchant } from "../support/merchant.ts";
import { fileOf } from "./files.ts";

const header = "amount,to,method,name";
const november = [
  "500,01712345671,bkash,Rahima",
  "1000,01712345672,bkash,Karim Uddin",
  "100,01712345673,bkash,Mina",
  "100,01712345674,bkash,Das",
  "100,01712345675,bkash,Salma",
];
const december = [
  "500,+8801712345671,bkash,Rahima",
  "1000,01712345679,bkash,karim  uddin", // another number
  "120,01712345673,bkash,Mina", // exactly 20 % more
  "79.99,01712345674,bkash,Das", // 20.01 % less
  "70,01712345676,bkash,Salma B", // a new name and a new number
];
const csv = (rows: string[]) => `${[header, ...rows].join("\n")}\n`;

function batch(merchant: Merchant, verb: string, rows: string[], ...more: string[]) {
  const path = fileOf(csv(rows), "payroll.csv");
  return merchant.lenden(["payout", "batch", verb, path, "--allow-duplicates", ...more]);
}

test("check and send compare a file with the last batch before anything is sent", async () => {
  const merchant = await openMerchant();
  expect((await batch(merchant, "send", november)).code).toBe(0);
  const id = await merchant.id(["payout", "batch", "list"]);

  const json = JSON.parse((await batch(merchant, "check", december, "--json")).stdout);
  const checked = await batch(merchant, "check", december);
  const sent = await batch(merchant, "send", december);

  const one = (line: number | null, end: string, name: string, amount: string) => ({
    line,
    to: `0171234567${end}`,
    name,
    amount,
  });
  const group = (total: string, ...list: object[]) => ({ recipients: list.length, total, list });
  expect(json.comparison).toEqual({
    lastBatch: {
      batch: id,
      name: "payroll.csv",
      ...{ createdAt: expect.any(String), sentAt: expect.any(String) },
      ...{ rows: 5, total: "1800", same: { rows: 1, total: "500" } },
      new: group("70", one(6, "6", "Salma B", "70")),
      missing: group("100", one(null, "5", "Salma", "100")),
      amountChanged: group("79.99", { ...one(5, "4", "Das", "79.99"), before: "100" }),
      numberChanged: group("1000", {
        ...one(3, "9", "karim  uddin", "1000"),
        before: "01712345672",
      }),
    },
    firstPayouts: group("1070", one(3, "9", "karim  uddin", "1000"), one(6, "6", "Salma B", "70")),
  });
  for (const text of [checked.stdout, sent.stderr]) {
    expect(text).toMatch(/Compared with:? .*payroll\.csv/);
    expect(text).toContain("-BDT 30.01 (-1.6 %), previously 5 rows, BDT 1,800.00");
    expect(text).toMatch(
      /Number changed:? .*1 recipient, BDT 1,000\.00\n +line 3: .*\(karim {2}uddin\), previously 01712345672/,
    );
    expect(text).toMatch(/Amount changed:? .*\n +line 5: .*, previously BDT 100\.00 \(-20\.0 %\)/);
    expect(text).toMatch(
      /Unchanged:? +1 row, BDT 500\.00, with the same\s+recipient and amount, sent /,
    );
    expect(text).toMatch(/No earlier payout:? .*2 recipients, BDT 1,070\.00/);
  }
});

/** The event that cancels a batch, also one that has no row left to cancel. */
const cancelledBatch = (which: string) => `
  INSERT INTO events (number, batch, at, event, data, commit_id, hash, login)
  SELECT (SELECT max(number) + 1 FROM events), number, created_at, 'cancelled', '{}', '', '', ''
  FROM batches WHERE ${which}`;

test("only the newest batch with the same columns counts, not a cancelled one or failed rows", async () => {
  const merchant = await openMerchant();
  expect((await batch(merchant, "send", november)).code).toBe(0);
  const id = await merchant.id(["payout", "batch", "list"]);
  const others = [
    "amount,to,method\n5,01812345678,bkash\n",
    "ref,amount,to,method,name\nA,5,01812345678,bkash,X\n",
    `${header}\n7,01812345678,bkash,X\n`,
  ];
  for (const [index, text] of others.entries()) {
    const path = fileOf(text, `other-${index}.csv`);
    await merchant.lenden(["payout", "batch", "send", path]);
  }
  await merchant.inLedger((database) => database.exec(cancelledBatch("name = 'other-2.csv'")));
  const { comparison } = JSON.parse((await batch(merchant, "check", december, "--json")).stdout);
  expect(comparison.lastBatch.batch).toBe(id);
});

test("numbers that were exchanged between two names are shown", async () => {
  const merchant = await openMerchant();
  const rows = ["5,01712345671,bkash,Rahima", "6,01712345672,bkash,Karim"];
  expect((await batch(merchant, "send", rows)).code).toBe(0);
  const swapped = ["5,01712345672,bkash,Rahima", "5,01712345671,bkash,Karim"];
  const { comparison } = JSON.parse((await batch(merchant, "check", swapped, "--json")).stdout);
  expect(comparison.lastBatch).toMatchObject({
    numberChanged: {
      list: [
        { line: 2, before: "01712345671" },
        { line: 3, before: "01712345672" },
      ],
    },
    new: { recipients: 0 },
    missing: { recipients: 0 },
  });
});

test("a file with most rows of a batch that was sent days ago is warned of, for 20 days", async () => {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const merchant = await openMerchant();
  const run = (verb: string, rows: string[], name: string, ...flags: string[]) => {
    const line = ["payout", "batch", verb, fileOf(csv(rows), name), ...flags];
    return merchant.lenden(line, { host: { now } });
  };
  const warningsOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).warnings ?? [];
  expect((await run("send", november, "november.csv")).code).toBe(0);
  const id = await merchant.id(["payout", "batch", "list"]);
  aheadMs = 49 * 3_600_000;
  const corrected = [...november.slice(1), "501,01712345671,bkash,Rahima"];

  const checked = await run("check", corrected, "corrected.csv", "--json");
  const half = await run(
    "check",
    ["700,01812345671,bkash,A", november[0] ?? ""],
    "x.csv",
    "--json",
  );
  // The API's own clock does not jump, so that nothing is sent now.
  const { stderr } = await run("send", corrected, "corrected.csv");
  await merchant.lenden(["payout", "batch", "cancel", "corrected.csv", "--yes"]);
  aheadMs = 20 * 24 * 3_600_000;
  const later = await run("check", corrected, "later.csv", "--name", "later", "--json");

  const message = `4 of 5 rows (BDT 1,300.00) have the same recipient and amount as in batch ${id}, november.csv, which was sent 2 days ago. If you send the file, they are paid again.`;
  expect(warningsOf(checked)).toEqual([{ reason: "batch.similar-sent", message }]);
  expect(stderr).toContain(`Paid again: ${message}`);
  expect(stderr).toContain(
    "4 rows, BDT 1,300.00, with the same recipient and amount, sent 2 days ago",
  );
  expect([checked, half, later].map(({ code }) => code)).toEqual([0, 0, 0]);
  expect([...warningsOf(half), ...warningsOf(later)]).toEqual([]);
});
