import fc from "fast-check";
import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { runs } from "../support/helpers.ts";
import { jumpingHost } from "../support/lenden.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";
import { anyStyle, payoutTable, strictlyRead, writtenCsv } from "./csv-files.ts";
import { exported, fileOf } from "./files.ts";

const results = [
  ...["payoutId", "state", "status", "code", "message", "sentAt", "updatedAt"],
  "existing",
];

const peculiar = [
  ["ref", "amount", "to", "method", "name", "description"],
  ["000123", "5.50", "01712345678", "bkash", 'Mina "Moon" Das', "one, two; three"],
  ["_A-1", "6", "+8801712345678", "bKash ", "=HYPERLINK(1)", "+1 @ 2"],
  ["A2", "7", " 01812-345 678 ", "Nagad", "@Mina", "-"],
  ["A3", "8.00", "8801912345678", "rocket", " রহি\u200dমা 🎉 ", "'"],
  ["A4", "9", "01312345678", "bkash", "", "0123"],
];

const csv = (table: string[][]) =>
  writtenCsv(table, { delimiter: ",", ends: ["\n"], quotes: [false], isEnded: true }).text;

async function send(merchant: Merchant, path: string, ...flags: string[]): Promise<number> {
  const line = ["payout", "batch", "send", path, "--allow-duplicates", "--json", ...flags];
  return (await merchant.lenden(line, { host: jumpingHost() })).code;
}

function cellsOf(text: string): string[][] {
  const { records, isWhole } = strictlyRead(text, ",");
  expect(isWhole).toBe(true);
  return records.map(({ cells }) => cells);
}

test("export writes the file's own cells and the result of each row", async () => {
  const merchant = await openMerchant();
  const path = fileOf(csv(peculiar));
  expect(await send(merchant, path)).toBe(0);
  const [header, ...rows] = cellsOf(await exported(merchant, path, "--exact"));
  expect(header).toEqual([...(peculiar[0] ?? []), ...results]);
  expect(rows.map((cells) => cells.slice(0, 6))).toEqual(peculiar.slice(1));
  for (const row of rows)
    expect([...row.slice(6, 11), row.at(-1)]).toEqual([
      expect.stringMatching(/./),
      "CONFIRMED",
      "Processing",
      "",
      "",
      "no",
    ]);
});

test("export writes the cells of any file unchanged", async () => {
  const property = fc.asyncProperty(
    payoutTable,
    anyStyle([",", ";", "\t"]),
    async ({ table }, style) => {
      let close = async () => {};
      const merchant = await openMerchant({}, (ending) => {
        close = ending;
      });
      const path = fileOf(writtenCsv(table, style).text);
      expect(await send(merchant, path, "--delimiter", style.delimiter, "--method", "nagad")).toBe(
        0,
      );
      const width = table[0]?.length ?? 0;
      const back = cellsOf(await exported(merchant, path, "--exact")).map((cells) =>
        cells.slice(0, width),
      );
      expect(back).toEqual(table);
      await close();
    },
  );
  await fc.assert(property, { numRuns: runs(5, 300) });
}, 300_000);

test.each([
  ["with references", ["ref", "amount", "to", "method", "name"]],
  ["without references", ["to", "amount", "method", "name"]],
])(
  "export --only failed can be sent again until each recipient is paid once: %s",
  async (_, columns) => {
    const merchant = await openMerchant(unlucky);
    const rows = recipients.map((_, row) => columns.map((column) => cellOf(column, row)));
    const own = columns.filter(isNoReference);
    const ownOf = (cells: string[], header: string[]) =>
      own.map((column) => cells[header.indexOf(column)]);
    let path = fileOf(csv([columns, ...rows]), "round-0.csv");
    let round = 0;
    while ((await send(merchant, path)) !== 0) {
      round += 1;
      expect(round).toBeLessThan(20);
      const [header = [], ...failed] = cellsOf(await exported(merchant, path, "--only", "failed"));
      expect(header).toEqual(own.length < columns.length ? columns : ["ref", ...columns]);
      const before = rows.map((cells) => ownOf(cells, columns));
      expect(before).toEqual(expect.arrayContaining(failed.map((cells) => ownOf(cells, header))));
      path = fileOf(csv([header, ...failed]), `round-${round}.csv`);
    }
    expect(round).toBeGreaterThan(0);
    expect(await paid(merchant)).toEqual(recipients);
  },
);

test("export --only failed writes the same file again, and sending it twice pays each row once", async () => {
  const merchant = await openMerchant(unlucky);
  const columns = ["amount", "to", "method"];
  const rows = recipients.map((_, row) => columns.map((column) => cellOf(column, row)));
  const path = fileOf(csv([columns, ...rows]));
  await send(merchant, path);
  const failed = await exported(merchant, path, "--only", "failed");
  expect(await exported(merchant, path, "--only", "failed")).toBe(failed);
  await send(merchant, fileOf(failed), "--name", "first");
  const before = await paid(merchant);
  await send(merchant, fileOf(failed), "--name", "second");
  expect(await paid(merchant)).toEqual(before);
});

/** A merchant whose payouts are rejected, as long as the rules in `ill` are there. */
async function rejecting() {
  const ill = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  const failed = (path: string) => exported(merchant, path, "--only", "failed");
  return {
    merchant,
    ill,
    failed,
    send: (path: string, ...flags: string[]) => send(merchant, path, ...flags),
    references: async (path: string) => cellsOf(await failed(path)).map(([ref]) => ref),
    said: async (...line: string[]) => (await merchant.lenden(["payout", "batch", ...line])).stderr,
  };
}

const columns = ["ref", "amount", "to", "method"];

/** A file of rows: reference, amount and the last digit of the recipient. */
function rowsFile(...rows: [string, string, number][]): string {
  const lines = rows.map(([ref, amount, digit]) => [ref, amount, `0171234565${digit}`, "nagad"]);
  return fileOf(csv([columns, ...lines]), `${rows[0]?.[0]}.csv`);
}

test("a row that was sent again by its new reference is omitted from the next export", async () => {
  const { ill, send, failed, references, said } = await rejecting();
  const path = rowsFile(["D", "5", 0], ["E", "5", 1], ["F", "5", 2]);
  expect(await send(path)).toBe(6);
  const again = csv(cellsOf(await failed(path)).slice(0, 2));
  ill.splice(0);
  expect(await send(fileOf(again), "--name", "again")).toBe(0);
  expect(await references(path)).toEqual(["ref", "E-lenden2", "F-lenden2"]);
  expect(await said("status", path)).toMatch(
    /rejected: 3\.[\s\S]*Accepted with new references: 1 row, BDT 5/,
  );
  expect(await send(fileOf(await failed(path)), "--name", "rest")).toBe(0);
  expect(await said("status", path)).not.toContain("--only failed");
});

test("a rejected row whose new reference was rejected too gets the next one, also by an old file", async () => {
  const { ill, send, failed, references, said } = await rejecting();
  const path = rowsFile(["G", "5", 1]);
  expect(await send(path)).toBe(6);
  const second = await failed(path);
  expect(await send(fileOf(second), "--name", "second")).toBe(6);
  expect(await references(path)).toEqual(["ref", "G-lenden3"]);
  ill.splice(0);
  expect(await send(fileOf(await failed(path)), "--name", "third")).toBe(0);
  const says = await said("send", fileOf(`${second}\n`), "--name", "x");
  expect(says).toContain("The payout was already resent as G-lenden3: run");
});

test("a payout by a similar reference of the merchant is not taken for a resent row", async () => {
  const { ill, send, references } = await rejecting();
  const path = rowsFile(["rahim-r1", "5", 0], ["karim", "6", 1]);
  expect(await send(path)).toBe(6);
  ill.splice(0);
  const next = rowsFile(["rahim-r2", "5", 0], ["karim-2", "7", 1]);
  expect(await send(next, "--name", "week 2")).toBe(0);
  expect(await references(path)).toEqual(["ref", "rahim-r1-lenden2", "karim-lenden2"]);
});

test("a corrected row is known by its new reference, whatever was corrected", async () => {
  const { ill, send, references, said } = await rejecting();
  const path = rowsFile(["L", "5", 0]);
  expect(await send(path)).toBe(6);
  expect(await said("check", path)).toMatch(/no row is left to send.*--only failed/);
  ill.splice(0);
  expect(await send(rowsFile(["L-lenden2", "4", 9]), "--name", "corrected")).toBe(0);
  expect(await references(path)).toEqual(["ref"]);
  expect(await said("status", path)).toContain("Accepted with new references: 1 row, BDT 4.00.");
});

test("a refresh also requests the status of what was sent by new references", async () => {
  const { merchant, ill, send, failed, references, said } = await rejecting();
  const path = rowsFile(["S", "5", 0]);
  expect(await send(path)).toBe(6);
  ill.splice(0);
  const again = fileOf(await failed(path));
  expect(await send(again, "--name", "again")).toBe(0);
  const id = cellsOf(await exported(merchant, again))[1]?.[4] ?? "";
  await merchant.set("payout", id, "Cancelled");
  expect(await said("status", path)).toContain("Accepted with new references: 1 row");
  expect(await said("status", path, "--refresh")).not.toContain("Accepted with");
  expect(await references(path)).toEqual(["ref", "S-lenden3"]);
});

test("a new reference that is not paid yet is reported, and no second one is given", async () => {
  const { ill, send, failed, references, said } = await rejecting();
  const path = rowsFile(["M", "5", 0], ["N", "5", 1], ["K", "5", 2]);
  expect(await send(path)).toBe(6);
  const before = cellsOf(await failed(path));
  ill.splice(0, 1, ...faults("createPayout:status-401"));
  expect(await send(fileOf(csv([columns, before[3] ?? []])), "--name", "same")).toBe(4);
  expect(await send(rowsFile(["M-lenden2", "5", 8]), "--name", "corrected")).toBe(4);
  ill.splice(0, 1, ...faults("createPayout:status-503"));
  const unknown = rowsFile(["N-lenden2", "5", 1]);
  expect(await send(unknown, "--name", "unknown", "--timeout", "30s")).toBe(75);
  expect(await said("status", path)).toContain("Not accepted with new references: 2 rows");
  expect(await references(path)).toEqual(["ref", "K-lenden2"]);
});

test("a file that has a row and what replaced it gives one row again, and not two", async () => {
  const { send, failed, references } = await rejecting();
  const path = rowsFile(
    ...([
      ["A", "5", 0],
      ["A-lenden2", "5", 1],
      ["B-lenden2", "5", 2],
    ] satisfies [string, string, number][]),
    ["x".repeat(62), "5", 3],
  );
  const shortened = expect.stringMatching(/^LD-[\w-]{32}-lenden/);
  expect(await send(path)).toBe(6);
  expect(await references(path)).toEqual(["ref", "A-lenden3", "B-lenden3", shortened]);
  expect(await send(fileOf(await failed(path)), "--name", "again")).toBe(6);
  expect(await references(path)).toEqual(["ref", "A-lenden4", "B-lenden4", shortened]);
});

test("the value of --method stays with rows that are sent again", async () => {
  const { send, failed } = await rejecting();
  const path = fileOf("amount,to\n5,01712345678\n");
  expect(await send(path, "--method", "nagad")).toBe(6);
  expect(cellsOf(await failed(path))).toEqual([
    columns,
    [expect.stringMatching(/^LD-.*-lenden2$/), "5", "01712345678", "nagad"],
  ]);
});

test.each(["REFUSED", "Cancelled"])(
  "a reference that ended %s is not used again",
  async (ended) => {
    const { merchant, ill, send } = await rejecting();
    if (ended === "Cancelled") ill.splice(0);
    const path = rowsFile(["A", "5", 0]);
    expect(await send(path)).toBe(ended === "Cancelled" ? 0 : 6);
    if (ended === "Cancelled") {
      const [payout] = await merchant.books("payouts");
      await merchant.set("payout", String(payout?.id), ended);
      await merchant.lenden(["payout", "batch", "status", path, "--refresh"]);
    }
    const other = fileOf(`${csv([columns, ["A", "5", "01712345650", "nagad"]])}\n`);
    const line = ["payout", "batch", "send", other, "--name", "x"];
    const how = ended === "REFUSED" ? "was rejected" : "was cancelled";
    const says = `line 2, ref "A": The payout with this reference ${how} on `;
    expect(await merchant.lenden(line)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(says),
    });
  },
);

test.each([
  ["status-403", 4],
  ["status-500", 69],
])("shows the statuses of the ledger if a status check fails with %s", async (kind, refresh) => {
  const merchant = await openMerchant({ faults: faults(`retrievePayout:${kind}`) });
  const path = fileOf(
    csv([
      ["ref", "amount", "to", "method"],
      ["A", "5", "01712345678", "nagad"],
    ]),
  );
  const waiting = ["--wait", "--wait-timeout", "200ms", "--interval", "50ms"];
  const run = (...line: string[]) =>
    merchant.lenden(["payout", "batch", ...line, "--json"], { host: jumpingHost() });
  const states = { processing: { rows: 1, total: "5" } };
  for (const [line, code] of [
    [["send", path, ...waiting], 8],
    [["status", path, "--refresh"], refresh],
  ] as const) {
    const ended = await run(...line);
    expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([code, { rows: 1, states }]);
    expect(JSON.parse(ended.stdout).warnings).toEqual([
      {
        reason: "batch.not-all-checked",
        message: expect.stringContaining("Not all statuses were retrieved."),
      },
    ]);
    expect(JSON.parse(ended.stderr).error.message).toContain("1 of 1 row accepted");
  }
});

const unlucky = { faults: faults("createPayout:status-400:0.3"), seed: 7 };
const recipients = Array.from({ length: 20 }, (_, row) => `017123456${row + 10}`);

async function paid(merchant: Merchant): Promise<unknown[]> {
  const books = await merchant.books("payouts");
  return books.map(({ recipientNumber }) => recipientNumber).toSorted();
}

function isNoReference(column: string): boolean {
  return column !== "ref" && column !== "merchantRef";
}

function cellOf(column: string, row: number): string {
  if (column === "amount") return `${row + 1}.5`;
  if (column === "to" || column === "recipientNumber") return recipients[row] ?? "";
  if (column === "ref" || column === "merchantRef") return `INV-${row}`;
  return column === "name" ? 'Mina "Moon", Das' : "bkash";
}
