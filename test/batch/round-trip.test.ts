import fc from "fast-check";
import { expect, test } from "vitest";
import { readFault } from "../../src/api/contract/fault.ts";
import { formatTime } from "../../src/domain/local-time.ts";
import { type Merchant, openMerchant } from "../merchant.ts";
import { runs } from "../runs.ts";
import { fileOf } from "./files.ts";
import { strictlyRead, writtenCsv } from "./independent-csv.ts";
import { anyStyle, payoutTable } from "./tables.ts";

const results = ["payoutId", "state", "status", "code", "message", "sentAt", "updatedAt"];

const peculiar = [
  ["ref", "amount", "to", "method", "name", "description"],
  ["000123", "5.50", "01712345678", "bkash", 'Mina "Moon" Das', "one, two; three"],
  ["-A-1", "6", "+8801712345678", "bKash ", "=HYPERLINK(1)", "+1 @ 2"],
  ["A2", "7", " 01812-345 678 ", "Nagad", "@Mina", "-"],
  ["A3", "8.00", "8801912345678", "rocket", " রহি\u200dমা 🎉 ", "'"],
  ["A4", "9", "01312345678", "bkash", "", "0123"],
];

const csv = (table: string[][]) =>
  writtenCsv(table, { delimiter: ",", ends: ["\n"], quotes: [false], isEnded: true }).text;

async function send(merchant: Merchant, path: string, ...flags: string[]): Promise<number> {
  const line = ["payout", "batch", "send", path, "--allow-duplicates", "--json", ...flags];
  return (await merchant.lenden(line)).code;
}

async function exported(merchant: Merchant, path: string, ...flags: string[]): Promise<string> {
  const { code, stdout } = await merchant.lenden(["payout", "batch", "export", path, ...flags]);
  expect(code).toBe(0);
  return stdout;
}

function cellsOf(text: string): string[][] {
  const { records, isWhole } = strictlyRead(text, ",");
  expect(isWhole).toBe(true);
  return records.map(({ cells }) => cells);
}

test("an export gives the file's cells back exactly, and what came of each row", async () => {
  const merchant = await openMerchant();
  const path = fileOf(csv(peculiar));
  expect(await send(merchant, path)).toBe(0);
  const [header, ...rows] = cellsOf(await exported(merchant, path, "--exact"));
  expect(header).toEqual([...(peculiar[0] ?? []), ...results]);
  expect(rows.map((cells) => cells.slice(0, 6))).toEqual(peculiar.slice(1));
  for (const row of rows)
    expect(row.slice(6, 11)).toEqual([
      expect.stringMatching(/./),
      "CONFIRMED",
      "Processing",
      "",
      "",
    ]);
});

test("any file that was sent comes back as it was, whatever it was written with", async () => {
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

test("an export holds no formula, and marks leading zeros as text", async () => {
  const merchant = await openMerchant();
  const path = fileOf(csv(peculiar));
  await send(merchant, path);
  const text = await exported(merchant, path);
  expect(text.startsWith("ref,")).toBe(true);
  expect(text).toContain('\r\n"000123",');
  const rows = cellsOf(text).map((cells) => cells.slice(0, 6));
  expect(rows).toEqual(
    peculiar.map((cells) => cells.map((cell) => (/^[=+\-@]/.test(cell) ? `'${cell}` : cell))),
  );
});

test.each([
  ["with references", ["ref", "amount", "to", "method", "name"]],
  ["with the service's names", ["amount", "recipientNumber", "paymentMethodId", "merchantRef"]],
  ["without references", ["to", "amount", "method", "name"]],
])("what failed can be sent again, until everybody is paid once: %s", async (_, columns) => {
  const merchant = await openMerchant(unlucky);
  const rows = everybody.map((_, row) => columns.map((column) => cellOf(column, row)));
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
  expect(await paid(merchant)).toEqual(everybody);
});

test("what failed is exported the same again, and sending that twice pays nobody twice", async () => {
  const merchant = await openMerchant(unlucky);
  const columns = ["amount", "to", "method"];
  const rows = everybody.map((_, row) => columns.map((column) => cellOf(column, row)));
  const path = fileOf(csv([columns, ...rows]));
  await send(merchant, path);
  const failed = await exported(merchant, path, "--only", "failed");
  expect(await exported(merchant, path, "--only", "failed")).toBe(failed);
  await send(merchant, fileOf(failed), "--name", "first");
  const before = await paid(merchant);
  await send(merchant, fileOf(failed), "--name", "second");
  expect(await paid(merchant)).toEqual(before);
});

test("what was sent again by its new reference is left out of the next export, and is told", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const rows = ["D", "E", "F"].map((ref, row) => [ref, "5", `0171234568${row}`, "nagad"]);
  const path = fileOf(csv([["ref", "amount", "to", "method"], ...rows]));
  expect(await send(merchant, path)).toBe(6);
  const again = csv(cellsOf(await exported(merchant, path, "--only", "failed")).slice(0, 2));
  ill.splice(0);
  expect(await send(merchant, fileOf(again), "--name", "again")).toBe(0);
  const left = await exported(merchant, path, "--only", "failed");
  expect(cellsOf(left).map(([ref]) => ref)).toEqual(["ref", "E-lenden2", "F-lenden2"]);
  const told = await merchant.lenden(["payout", "batch", "status", path]);
  expect(told.stderr).toContain(
    "3 rows were rejected or cancelled. Sent again by new references: 1 row, BDT 5.00. 'lenden",
  );
  expect(await send(merchant, fileOf(left), "--name", "rest")).toBe(0);
  const { stderr } = await merchant.lenden(["payout", "batch", "status", path]);
  expect([
    stderr.includes("new references: 3 rows, BDT 15.00."),
    stderr.includes("--only failed"),
  ]).toEqual([true, false]);
});

test("a refused row whose new reference was refused too gets the next one", async () => {
  const merchant = await openMerchant({ faults: [faultOf("createPayout:status-400")] });
  const header = ["ref", "amount", "to", "method"];
  const path = fileOf(csv([header, ["G", "5", "01712345691", "nagad"]]));
  expect(await send(merchant, path)).toBe(6);
  const failed = await exported(merchant, path, "--only", "failed");
  expect(await send(merchant, fileOf(failed), "--name", "again")).toBe(6);
  expect(cellsOf(await exported(merchant, path, "--only", "failed"))[1]?.[0]).toBe("G-lenden3");
});

test("how a merchant numbers references says nothing of the row: nobody else's payout is taken for it", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const header = ["ref", "amount", "to", "method", "name"];
  const week1 = [
    ["rahim-r1", "5", "01712345650", "nagad", "Rahim"],
    ["karim", "6", "01712345651", "nagad", "Karim"],
  ];
  const path = fileOf(csv([header, ...week1]));
  expect(await send(merchant, path)).toBe(6);
  ill.splice(0);
  const week2 = [
    ["rahim-r2", "5", "01712345650", "nagad", "Rahim"],
    ["karim-2", "7", "01712345651", "nagad", "Karim"],
  ];
  expect(await send(merchant, fileOf(csv([header, ...week2])), "--name", "week 2")).toBe(0);
  const left = cellsOf(await exported(merchant, path, "--only", "failed"));
  expect(left.map(([ref]) => ref)).toEqual(["ref", "rahim-r1-lenden2", "karim-lenden2"]);
});

test("a row that was mended, whatever was wrong with it, went on by its new reference", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const header = ["ref", "amount", "to", "method"];
  const path = fileOf(csv([header, ["L", "5", "01712345650", "nagad"]]));
  expect(await send(merchant, path)).toBe(6);
  const checked = await merchant.lenden(["payout", "batch", "check", path]);
  expect(checked.stderr).toMatch(
    /no row of it is left to be sent\. 1 row was rejected.*--only failed/,
  );
  ill.splice(0);
  const mended = csv([header, ["L-lenden2", "4", "01912345659", "bkash"]]);
  expect(await send(merchant, fileOf(mended), "--name", "mended")).toBe(0);
  expect(cellsOf(await exported(merchant, path, "--only", "failed"))).toEqual([header]);
  const { stderr } = await merchant.lenden(["payout", "batch", "status", path]);
  expect(stderr).toBe(
    "1 row was rejected or cancelled. Sent again by new references: 1 row, BDT 4.00.\n",
  );
});

test("a file of new references that were used up since is told by which its rows went on", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const header = ["ref", "amount", "to", "method"];
  const path = fileOf(csv([header, ["O", "5", "01712345650", "nagad"]]));
  expect(await send(merchant, path)).toBe(6);
  const second = await exported(merchant, path, "--only", "failed");
  expect(await send(merchant, fileOf(second), "--name", "second")).toBe(6);
  ill.splice(0);
  const third = await exported(merchant, path, "--only", "failed");
  expect(await send(merchant, fileOf(third), "--name", "third")).toBe(0);
  const { code, stderr } = await merchant.lenden([
    ...["payout", "batch", "check"],
    fileOf(`${second}\n`, "other.csv"),
  ]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("Correct the file")]);
  const line = ["payout", "batch", "send", fileOf(`${second}\n`), "--name", "x"];
  expect((await merchant.lenden(line)).stderr).toContain(
    "The row was sent again as O-lenden3: remove it.",
  );
});

test("of a used reference it is said in which batch its row is still to be sent, whatever was mended", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const header = ["ref", "amount", "to", "method"];
  const row = ["P", "5", "01712345650", "nagad"];
  expect(await send(merchant, fileOf(csv([header, row])))).toBe(6);
  ill.splice(0, 1, faultOf("createPayout:status-401"));
  const others = Array.from({ length: 20 }, (_, at) => [`X${at}`, "1", "01912345650", "nagad"]);
  const second = fileOf(csv([header, ...others, ["P-lenden2", "6", "01712345650", "nagad"]]));
  expect(await send(merchant, second, "--name", "second", "--concurrency", "1")).toBe(4);
  const status = await merchant.lenden(["payout", "batch", "status", second, "--json"]);
  const { batch }: { batch: string } = JSON.parse(status.stdout);
  for (const amount of ["5", "6"]) {
    const third = fileOf(`${csv([header, ["P", amount, "01712345650", "nagad"]])}\n`);
    const line = ["payout", "batch", "send", third, "--name", "third", "--allow-duplicates"];
    expect((await merchant.lenden(line)).stderr).toContain(
      `${amount === "5" ? "The" : "If it is the same payout, corrected, the"} row is planned as P-lenden2, in batch ${batch}, which is still to be sent.`,
    );
  }
});

test("a refresh looks also at what went on by new references", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const header = ["ref", "amount", "to", "method"];
  const path = fileOf(csv([header, ["S", "5", "01712345650", "nagad"]]));
  expect(await send(merchant, path)).toBe(6);
  ill.splice(0);
  const again = fileOf(await exported(merchant, path, "--only", "failed"));
  expect(await send(merchant, again, "--name", "again")).toBe(0);
  const id = cellsOf(await exported(merchant, again))[1]?.[4] ?? "";
  await merchant.lenden(["sandbox", "set", "payout", id, "Cancelled"]);
  const status = ["payout", "batch", "status", path];
  expect((await merchant.lenden(status)).stderr).toContain("Sent again by new references: 1 row");
  expect((await merchant.lenden([...status, "--refresh"])).stderr).not.toContain("Sent again");
  expect(cellsOf(await exported(merchant, path, "--only", "failed"))[1]?.[0]).toBe("S-lenden3");
});

test("what went on by a new reference and is not paid is told apart, with where to look", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const header = ["ref", "amount", "to", "method"];
  const rows = ["M", "N"].map((ref, row) => [ref, "5", `0171234565${row}`, "nagad"]);
  const path = fileOf(csv([header, ...rows]));
  expect(await send(merchant, path)).toBe(6);
  ill.splice(0, 1, faultOf("createPayout:status-401"));
  const mended = csv([header, ["M-lenden2", "5", "01912345658", "nagad"]]);
  expect(await send(merchant, fileOf(mended), "--name", "mended")).toBe(4);
  ill.splice(0, 1, faultOf("createPayout:status-503"));
  const doubtful = csv([header, ["N-lenden2", "5", "01712345651", "nagad"]]);
  expect(await send(merchant, fileOf(doubtful), "--name", "doubt", "--timeout", "1s")).toBe(75);
  const { stderr } = await merchant.lenden(["payout", "batch", "status", path]);
  expect(stderr).toBe(
    "2 rows were rejected or cancelled. By new references, but not sent, unknown or in conflict: 2 rows; 'lenden ledger show M-lenden2' shows more.\n",
  );
  expect(cellsOf(await exported(merchant, path, "--only", "failed"))).toEqual([header]);
});

test("a new reference that was refused for want of access is still the row's, and no second one is given", async () => {
  const ill = [faultOf("createPayout:status-400")];
  const merchant = await openMerchant({ faults: ill });
  const path = fileOf(
    csv([
      ["ref", "amount", "to", "method"],
      ["K", "5", "01712345693", "nagad"],
    ]),
  );
  expect(await send(merchant, path)).toBe(6);
  const failed = await exported(merchant, path, "--only", "failed");
  ill.splice(0, 1, faultOf("createPayout:status-401"));
  expect(await send(merchant, fileOf(failed), "--name", "again")).toBe(4);
  expect(await exported(merchant, path, "--only", "failed")).toBe(failed);
});

test("a file that has a row and what took its place gives one row again, and not two", async () => {
  const merchant = await openMerchant({ faults: [faultOf("createPayout:status-400")] });
  const header = ["ref", "amount", "to", "method"];
  const long = "x".repeat(62);
  const rows = ["A", "A-lenden2", "B-lenden2", long].map((ref, row) => [
    ref,
    "5",
    `0171234567${row}`,
    "nagad",
  ]);
  const path = fileOf(csv([header, ...rows]));
  expect(await send(merchant, path)).toBe(6);
  const again = cellsOf(await exported(merchant, path, "--only", "failed"));
  const shortened = /^LD-[\w-]{32}-lenden/;
  expect(again.map(([ref]) => ref)).toEqual([
    "ref",
    "A-lenden3",
    "B-lenden3",
    expect.stringMatching(shortened),
  ]);
  expect(await send(merchant, fileOf(csv(again)), "--name", "again")).toBe(6);
  const third = cellsOf(await exported(merchant, path, "--only", "failed"));
  expect(third.map(([ref = ""]) => ref.replace(shortened, ""))).toEqual([
    "ref",
    "A-lenden4",
    "B-lenden4",
    "3",
  ]);
});

test("a row in doubt whose recipient was paid the same meanwhile does not go out by itself", async () => {
  const ill = [faultOf("createPayout:status-503")];
  const merchant = await openMerchant({ faults: ill });
  const table = (ref: string) =>
    csv([
      ["ref", "amount", "to", "method"],
      [ref, "5", "01712345678", "nagad"],
    ]);
  const doubtful = fileOf(table("DOUBT"), "doubt.csv");
  expect(await send(merchant, doubtful, "--timeout", "1s")).toBe(75);
  ill.splice(0);
  expect(await send(merchant, fileOf(table("OTHER"), "other.csv"), "--allow-duplicates")).toBe(0);
  const resumed = await merchant.lenden(["payout", "batch", "send", doubtful]);
  expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining("as OTHER")]);
  expect(await paid(merchant)).toHaveLength(1);
});

test("what --method said of all rows stays with those that are sent again", async () => {
  const merchant = await openMerchant({ faults: [faultOf("createPayout:status-400")] });
  const rows = [
    ["amount", "to"],
    ["5", "01712345678"],
  ];
  const path = fileOf(csv(rows));
  expect(await send(merchant, path, "--method", "nagad")).toBe(6);
  expect(cellsOf(await exported(merchant, path, "--only", "failed"))).toEqual([
    ["ref", "amount", "to", "method"],
    [expect.stringMatching(/^LD-.*-lenden2$/), "5", "01712345678", "nagad"],
  ]);
});

test("a reference whose payout was cancelled is a problem of another file that has it, and was not 'sent before'", async () => {
  const merchant = await openMerchant();
  const text = csv([
    ["ref", "amount", "to", "method"],
    ["A", "5", "01712345678", "nagad"],
  ]);
  const path = fileOf(text);
  expect(await send(merchant, path)).toBe(0);
  const id = cellsOf(await exported(merchant, path))[1]?.[4] ?? "";
  await merchant.lenden(["sandbox", "set", "payout", id, "Cancelled"]);
  await merchant.lenden(["payout", "batch", "status", path, "--refresh"]);
  const line = ["payout", "batch", "send", fileOf(`${text}\n`), "--name", "x"];
  const again = await merchant.lenden(line);
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('ref "A": The payout of this reference ended Cancelled on '),
  ]);
});

test("a reference that was refused is a problem of the file that has it again", async () => {
  const merchant = await openMerchant({ faults: [faultOf("createPayout:status-400")] });
  const text = csv([
    ["ref", "amount", "to", "method"],
    ["A", "5", "01712345678", "nagad"],
  ]);
  expect(await send(merchant, fileOf(text))).toBe(6);
  const again = await merchant.lenden([
    "payout",
    "batch",
    "send",
    fileOf(`${text}\n`),
    "--name",
    "x",
  ]);
  const { updatedAt, methodName } = await merchant.json(["ledger", "show", "A"]);
  expect(methodName).toBe("nagad");
  const says = `The payout of this reference ended REFUSED on ${formatTime(String(updatedAt))}. The reference is not used again`;
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining(
      `line 2, ref "A": ${says}. The row can be sent by A-lenden2, if it is still to be paid.`,
    ),
  ]);
});

test.each([
  ["status-403", 4],
  ["status-500", 69],
])(
  "what stands in the ledger is shown also where the service answers a look with %s",
  async (kind, refresh) => {
    const merchant = await openMerchant({ faults: [faultOf(`retrievePayout:${kind}`)] });
    const path = fileOf(
      csv([
        ["ref", "amount", "to", "method"],
        ["A", "5", "01712345678", "nagad"],
      ]),
    );
    const waiting = ["--wait", "--wait-timeout", "200ms", "--interval", "50ms"];
    const run = (...line: string[]) => merchant.lenden(["payout", "batch", ...line, "--json"]);
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
          message: expect.stringContaining("Not all could be looked at"),
        },
      ]);
      expect(JSON.parse(ended.stderr).error.message).toContain("1 of 1 row was sent");
    }
  },
);

const unlucky = { faults: [faultOf("createPayout:status-400:0.3")], seed: 7 };
const everybody = Array.from({ length: 40 }, (_, row) => `017123456${row + 10}`);

async function paid(merchant: Merchant): Promise<unknown[]> {
  const books = await merchant.books("payouts");
  return books.map(({ recipientNumber }) => recipientNumber).toSorted();
}

function isNoReference(column: string): boolean {
  return column !== "ref" && column !== "merchantRef";
}

function cellOf(column: string, row: number): string {
  if (column === "amount") return `${row + 1}.5`;
  if (column === "to" || column === "recipientNumber") return everybody[row] ?? "";
  if (column === "ref" || column === "merchantRef") return `INV-${row}`;
  return column === "name" ? 'Mina "Moon", Das' : "bkash";
}

function faultOf(rule: string) {
  const read = readFault(rule);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}
