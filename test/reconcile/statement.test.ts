import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/domain/collect.ts";
import type { State } from "../../src/domain/state.ts";
import { createOperation } from "../../src/ledger/intent.ts";
import type { Operation } from "../../src/ledger/operation.ts";
import { createBalanceCheck } from "../../src/reconcile/balance.ts";
import {
  classify as classifyPage,
  createFirstLines,
  type Entry,
} from "../../src/reconcile/classify.ts";
import type { StatementField } from "../../src/reconcile/fields.ts";
import { type Line, readLines } from "../../src/reconcile/lines.ts";
import { recognize, withNotations } from "../../src/reconcile/recognize.ts";
import { readTable } from "../../src/reconcile/table.ts";
import { openTable } from "../../src/tables/source.ts";
import { worker } from "../ledger/small-ledger.ts";
import { scratchFolder } from "../support/helpers.ts";

async function linesOf(text: string, ...mapped: [string, StatementField][]) {
  const table = await tableOf(text);
  const mapping = mapped.map(([column, field]) => ({ column, field }));
  const lines = await readLines(table, await withNotations(table, mapping), "Asia/Dhaka");
  return (await collect(lines.pages())).flat();
}

async function tableOf(text: string) {
  const path = join(scratchFolder(), "s.csv");
  writeFileSync(path, text);
  const hints = { missing: "", pipe: "", large: "" };
  return readTable(await openTable(path, { hints, limit: { rows: 10_000, message: "" } }));
}

/** The entries of lines that are classified in pages of two. */
function classify(lines: Line[], operations: Operation[]): Entry[] {
  const entries: Entry[] = [];
  const named = createFirstLines((line) => entries.find((one) => one.line.line === line));
  for (let at = 0; at < lines.length; at += 2) {
    const page = classifyPage(lines.slice(at, at + 2), operations, named);
    entries.push(...page.entries);
    for (const [number, line] of page.first) named.set(number, line);
  }
  return entries;
}

function numbered(lines: Line[]): Line[] {
  return lines.map((one, at) => ({ ...one, line: at + 2 }));
}

function checkBalance(entries: Entry[], isNewestFirst?: boolean) {
  const check = createBalanceCheck(isNewestFirst);
  for (let at = 0; at < entries.length; at += 2) check.add(entries.slice(at, at + 2));
  return check.result(false);
}

describe("a statement", () => {
  test("reads lines below a title, of two columns of amounts, with dates of Bangladesh", async () => {
    const lines = await linesOf(
      "Statement of My Shop\nDate;Trx;Debit;Credit;Balance\n20/11/2026 10:30;T1;;1,000.00;1,000.00\n21 Nov 2026;T2;250.50;;749.50\n",
      ["Date", "date"],
      ["Trx", "id"],
      ["Debit", "debit"],
      ["Credit", "credit"],
      ["Balance", "balance"],
    );
    expect(lines).toMatchObject([
      { line: 3, movementPaisa: 100_000n, span: { fromMs: Date.parse("2026-11-20T04:30:00Z") } },
      { line: 4, movementPaisa: -25_050n, span: { toMs: Date.parse("2026-11-21T18:00:00Z") - 1 } },
    ]);
    expect(checkBalance(classify(lines, []))).toMatchObject({
      opening: 0n,
      closing: 74_950n,
      brokenAt: null,
    });
  });

  test("names every cell that cannot be read by its line", async () => {
    const reading = linesOf(
      "id,amount,date\nT1,12,50,2026-11-01\nT2,1250.5.0,30/02/2026\n",
      ["id", "id"],
      ["amount", "amount"],
      ["date", "date"],
    );
    await expect(reading).rejects.toMatchObject({
      message: expect.stringMatching(/s\.csv, line 2 has 4 cells, but the header has 3\.$/),
      details: {
        problems: [
          expect.stringContaining('s.csv, line 3, amount: "1250.5.0" is not an amount.'),
          expect.stringContaining('s.csv, line 3, date: "30/02/2026" is not a date.'),
        ],
      },
    });
  });
});

test("names a wrong cell of a column that has the name of its field", async () => {
  const text = "id,amount,date\nID-A,5.00,2026-11-01\nID-B,222.25 XR,2026-11-02\n";
  const table = await tableOf(text);
  const columns = recognize(table, [], [payoutA]);
  await expect(readLines(table, columns, "Asia/Dhaka")).rejects.toThrow(
    's.csv, line 3, amount: "222.25 XR" is not an amount.',
  );
});

test("names the first wrong cells, and counts the others", async () => {
  const rows = Array.from({ length: 23 }, (_, at) => `T${at},five\n`);
  const reading = linesOf(`id,amount\n${rows.join("")}`, ["id", "id"], ["amount", "amount"]);
  const { problems } = (await reading.catch((error) => error)).details;
  // Beside the first one, which is the message.
  expect(problems).toHaveLength(20);
  expect(problems.at(-2)).toContain("line 21,");
  expect(problems.at(-1)).toBe("And 3 more problems.");
});

const names = ["A", "B", "C", "D", "E"];
const paisa = fc.bigInt({ min: 1n, max: 3n });
const operation = fc
  .record({
    name: fc.constantFrom(...names),
    amountPaisa: paisa,
    state: fc.constantFrom<State[]>("CONFIRMED", "UNCERTAIN", "REFUSED", "CONFLICT"),
    status: fc.constantFrom("Processing", "Completed", "Cancelled"),
  })
  .map(({ name, ...one }): Operation => ({ ...operationOf(name), ...one }));
const line = fc
  .record({
    name: fc.constantFrom(...names, "X"),
    byReference: fc.boolean(),
    amountPaisa: fc.option(paisa),
    isDebit: fc.boolean(),
    feePaisa: fc.constantFrom(null, 1n),
  })
  .map(({ name, byReference, amountPaisa, isDebit, feePaisa }): Line => {
    return {
      line: 1,
      id: byReference ? null : `ID-${name}`,
      reference: byReference ? name : null,
      lineId: null,
      mentions: [],
      numbers: [],
      date: null,
      span: null,
      kind: null,
      amountPaisa,
      movementPaisa: amountPaisa === null ? null : isDebit ? -amountPaisa : amountPaisa,
      feePaisa,
      balancePaisa: null,
      currency: null,
      status: null,
      recipient: null,
    };
  });

function operationOf(name: string): Operation {
  const asked = { recipientNumber: "01712345678" };
  const intent = { kind: "payout" as const, reference: name, amountPaisa: 1n, target: null, asked };
  const number = BigInt(names.indexOf(name) + 1);
  const account = { number: 1n, name: "a" };
  const stored = { number, target: null, account, holder: null, at: "2026-11-20T10:00:00Z" };
  return { ...createOperation(intent, stored, worker()).operation, remoteId: `ID-${name}` };
}

/** A line of the payout A, as it is in a statement. */
const lineOfA: Line = {
  ...{
    line: 2,
    id: "ID-A",
    reference: "A",
    lineId: null,
    mentions: [],
    numbers: [],
    date: null,
    span: null,
    kind: "payout",
  },
  ...{ amountPaisa: 1n, movementPaisa: -1n, feePaisa: null, balancePaisa: null },
  currency: null,
  ...{ status: "Completed", recipient: "+8801712345678" },
};
const lineOfX: Line = { ...lineOfA, id: "ID-X", reference: "X" };
const payoutA: Operation = {
  ...{ ...operationOf("A"), state: "CONFIRMED", status: "Completed" },
  completedAt: "2026-11-20T12:00:00Z",
};

function spanOf(day: string) {
  const fromMs = Date.parse(day);
  return { fromMs, toMs: fromMs + 86_399_999 };
}

test.each<[string, Partial<Line>, Partial<Operation>, string[]]>([
  ["nothing", {}, {}, []],
  ["an amount", { movementPaisa: -2n }, {}, ["amount"]],
  ["a direction", { movementPaisa: 1n }, {}, ["amount"]],
  ["a reference", { reference: "B" }, {}, ["reference"]],
  ["an ID", { id: "ID-B" }, {}, ["id"]],
  ["a type", { kind: "refund" }, {}, ["type"]],
  ["a status", { status: "On hold" }, {}, ["status"]],
  ["a status without a column of statuses", { status: null }, { status: "Cancelled" }, ["status"]],
  ["a date before it was sent", { span: spanOf("2026-11-15") }, {}, ["date"]],
  ["a date after it was completed", { span: spanOf("2026-11-25") }, {}, ["date"]],
  ["no date between both", { span: spanOf("2026-11-23") }, {}, []],
  ["an amount of zero", { amountPaisa: null, movementPaisa: null }, {}, ["amount"]],
  [
    "a fee by its words, but with another amount",
    { kind: "fee", movementPaisa: -2n },
    {},
    ["amount"],
  ],
  ["a recipient", { recipient: "01812345678" }, {}, ["recipient"]],
  ["a payout that was rejected", {}, { state: "REFUSED" }, ["state"]],
])("sees %s that differs", (_, line, operation, fields) => {
  const [entry] = classify([{ ...lineOfA, ...line }], [{ ...payoutA, ...operation }]);
  expect(entry?.differences.map(({ field }) => field)).toEqual(fields);
  expect(entry?.result).toBe(fields.length > 0 ? "differs" : "matched");
});

test.each([
  ["a payment less its fee", { kind: "payment" }, { movementPaisa: 9n }, []],
  ["a payout with its fee", { kind: "payout" }, { movementPaisa: -11n }, []],
  ["a payout less its fee", { kind: "payout" }, { movementPaisa: -9n }, ["amount"]],
  ["a payment with its fee", { kind: "payment" }, { movementPaisa: 11n }, ["amount"]],
  ["another amount", { kind: "payout" }, { movementPaisa: -12n }, ["amount"]],
] as const)("compares the amount of %s with the ledger", (_, { kind }, line, fields) => {
  const fee = { kind, amountPaisa: 9n, feePaisa: -1n, balancePaisa: 100n };
  const operation: Operation = { ...payoutA, kind, amountPaisa: 10n };
  const entries = classify([{ ...lineOfA, reference: null, ...fee, ...line }], [operation]);
  expect(entries[0]?.differences.map(({ field }) => field)).toEqual(fields);
  expect(entries[0]?.isNet).toBe(fields.length === 0 ? true : undefined);
  if (fields.length === 0)
    expect(checkBalance(entries)).toMatchObject({ opening: 100n - line.movementPaisa, fees: 0n });
});

test.each([
  ["the day first if a day is above 12", "03/04/2026", "20/11/2026", "2026-04-02T18:00:00Z"],
  ["the month first if a later line decides", "03/04/2026", "11/20/2026", "2026-03-03T18:00:00Z"],
  ["the day first if nothing decides", "03/04/2026", "04/04/2026", "2026-04-02T18:00:00Z"],
])("reads dates with %s", async (_, first, second, at) => {
  const rows = [first, second].map((date, place) => `T${place},5,${date}\n`);
  const text = `id,amount,date\n${rows.join("")}`;
  const lines = await linesOf(text, ["id", "id"], ["amount", "amount"], ["date", "date"]);
  expect(lines[0]?.span?.fromMs).toBe(Date.parse(at));
});

test("shows how an ambiguous date is read, and a mapping decides it", async () => {
  const table = await tableOf("id,amount,date\nT1,5,03/04/2026\n");
  const columns = await withNotations(table, recognize(table, [], []));
  expect(columns.find(({ field }) => field === "date-day-first")?.why).toBe(
    "03/04/2026 is read day first. If the month is first: --map date=date-month-first",
  );
  const [line] = await linesOf(
    "id,amount,date\nT1,5,03/04/2026\n",
    ["id", "id"],
    ["amount", "amount"],
    ["date", "date-month-first"],
  );
  expect(line?.span?.fromMs).toBe(Date.parse("2026-03-03T18:00:00Z"));
});

test.each([
  ["26/11/05", "26/11/28", "date-year-first", "26/11/05 is read year first. If the day is first"],
  ["05/11/26", "28/11/26", "date-day-first", "times"],
  ["11/05/26", "11/28/26", "date-month-first", "times"],
  ["05.11.26", "06.11.26", "date-day-first", "If the month is first: --map date=date-month-first"],
])("reads %s and %s as %s", async (first, second, field, why) => {
  const table = await tableOf(`id,amount,date\nT1,5,${first}\nT2,5,${second}\n`);
  const columns = await withNotations(table, recognize(table, [], []));
  const date = columns.find(({ column }) => column === "date");
  expect(date).toMatchObject({ field, why: expect.stringContaining(why) });
  const span = await readLines(table, columns, "Asia/Dhaka");
  expect(span.span?.fromMs).toBe(Date.parse("2026-11-04T18:00:00Z"));
});

test("reads commas before decimals only if the whole column has them", async () => {
  const amounts = (...cells: string[]) => {
    const lines = ["id;debit;credit", ...cells.map((cell, at) => `T${at};${cell}`)];
    return linesOf(lines.join("\n"), ["id", "id"], ["debit", "debit"], ["credit", "credit"]);
  };
  const few = await amounts("1.250,50;", "98,00;", ";500", "-;1,250.50");
  expect(few.map(({ movementPaisa }) => movementPaisa)).toEqual([
    -125050n,
    -9800n,
    50000n,
    125050n,
  ]);
  const many = Array(1_500).fill("500;");
  expect((await amounts(...many, "12,50;")).at(-1)?.movementPaisa).toBe(-1250n);
  await expect(amounts(...many, "12,50;", "12.50;")).rejects.toThrow('"12,50" is not an amount');
});

test.each([
  ["Processed", "Completed"],
  ["PAID", "Completed"],
  ["Payment successful.", "Completed"],
  ["Processing", "Processing"],
  ["In progress", "Processing"],
  ["Failed", "Cancelled"],
  // These are no status of the API: a person has to see them.
  ...["Paid but returned", "Completed - Reversed", "Cancellation rejected", "OK"].map((one) => [
    one,
    one,
  ]),
])("reads the status %s as %s", async (word, status) => {
  const text = `id,amount,status\nT1,5,${word}\n`;
  const lines = await linesOf(text, ["id", "id"], ["amount", "amount"], ["status", "status"]);
  expect(lines.map((line) => line.status)).toEqual([status]);
});

test("a column is no status because one of its words is", async () => {
  const columnsOf = async (name: string) =>
    recognize(await tableOf(`id,amount,${name}\nT1,-5,payout\nT2,5,reversal\n`), [], [])
      .filter(({ field }) => field === "status")
      .map(({ column }) => column);
  expect(await columnsOf("particulars")).toEqual([]);
  expect(await columnsOf("Txn status")).toEqual(["Txn status"]);
});

test.each(["'ID-A", '"=""ID-A"""', "\u200bID-A\u00a0"])("reads %j as an ID", async (cell) => {
  const [line] = await linesOf(`id,amount\n${cell},'-5\n`, ["id", "id"], ["amount", "amount"]);
  expect(line).toMatchObject({ id: "ID-A", movementPaisa: -500n });
});

test("a cancelled payout whose money is returned is no contradiction", () => {
  const sent: Line = { ...lineOfA, status: null };
  const returned: Line = { ...sent, line: 3, movementPaisa: 1n };
  const cancelled: Operation = { ...payoutA, status: "Cancelled" };
  const results = (lines: Line[]) =>
    classify(numbered(lines), [cancelled]).map(({ result }) => result);
  expect(results([sent, returned])).toEqual(["matched", "matched"]);
  expect(results([sent, sent])).toEqual(["differs", "twice"]);
  // The third line may be on another page than the second one, or on the same.
  expect(results([sent, returned, returned])).toEqual(["matched", "matched", "twice"]);
  expect(results([lineOfX, sent, returned, returned]).slice(1)).toEqual([
    ...["matched", "matched", "twice"],
  ]);
  // The newest line may be the first one.
  expect(results([returned, sent])).toEqual(["matched", "matched"]);
  expect(results([lineOfX, returned, sent, returned]).slice(1)).toEqual([
    ...["matched", "matched", "twice"],
  ]);
  expect(results([returned])).toEqual(["differs"]);
  expect(results([returned, returned])).toEqual(["differs", "twice"]);
  const debit = { ...sent, movementPaisa: -2n };
  const credit = { ...sent, movementPaisa: 2n };
  expect(results([debit, credit])).toEqual(["differs", "matched"]);
  expect(results([credit, debit])).toEqual(["matched", "differs"]);
});

test("a second line with a known ID is its fee by words and amount, or else there twice", () => {
  const fee: Line = { ...lineOfA, line: 3, kind: "fee", amountPaisa: 2n, movementPaisa: -2n };
  const results = (second: Line) =>
    classify([lineOfA, second], [payoutA]).map(({ result }) => result);
  expect(results(fee)).toEqual(["matched", "fee"]);
  expect(results({ ...fee, amountPaisa: 1n, movementPaisa: -1n })).toEqual(["matched", "twice"]);
  expect(results({ ...fee, kind: null })).toEqual(["matched", "twice"]);
});

test("a fee may be above the line whose ID it has", () => {
  const fee: Line = { ...lineOfA, line: 3, kind: "fee", amountPaisa: 2n, movementPaisa: -2n };
  const results = (lines: Line[], operation = payoutA) =>
    classify(numbered(lines), [operation]).map(({ result }) => result);
  expect(results([fee, lineOfA])).toEqual(["fee", "matched"]);
  // On two pages.
  expect(results([lineOfX, fee, lineOfA, lineOfA]).slice(1)).toEqual(["fee", "matched", "twice"]);
  expect(results([fee, fee, lineOfA])).toEqual(["fee", "fee", "matched"]);
  const returned: Line = { ...lineOfA, status: null, movementPaisa: 1n };
  const lines = [fee, returned, { ...returned, movementPaisa: -1n }];
  expect(results(lines, { ...payoutA, status: "Cancelled" })).toEqual([
    ...["fee", "matched", "matched"],
  ]);
  // Without such a line, the fee is compared with the payout.
  expect(results([fee])).toEqual(["differs"]);
  expect(results([fee, { ...lineOfA, movementPaisa: -3n }])).toEqual(["fee", "differs"]);
});

test.each([
  ["Completed", 0],
  ["Cancelled", 1],
])("a %s payout matches one debit, %i credits and any fees, in every order", (status, most) => {
  const debit: Line = { ...lineOfA, status: null };
  const credit: Line = { ...debit, movementPaisa: 1n };
  const fee: Line = { ...debit, kind: "fee", amountPaisa: 2n, movementPaisa: -2n };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(debit, credit, fee), { maxLength: 6 }), (lines) => {
      const entries = classify(numbered(lines), [{ ...payoutA, status }]);
      const count = (of: Line) => lines.filter((one) => one === of).length;
      expect(entries.every(({ result }) => result === "matched" || result === "fee")).toBe(
        lines.length === 0 || (count(debit) === 1 && count(credit) === most),
      );
    }),
  );
});

test("every line has one result, and every operation is the match of at most one line", () => {
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.uniqueArray(operation, { selector: ({ number }) => number }),
      (unnumbered, operations) => {
        const lines = numbered(unnumbered);
        const entries = classify(lines, operations);
        // A fee that came back with its amount is none.
        const withoutFee = (one: Line) => ({ ...one, feePaisa: null });
        expect(entries.map((one) => withoutFee(one.line))).toEqual(lines.map(withoutFee));
        const first = entries.filter(({ result, operation }) => operation && result !== "twice");
        const isReturn = ({ operation }: Entry) => operation?.status === "Cancelled";
        const counted = first.filter((one) => !isReturn(one)).map((one) => one.operation?.number);
        expect(new Set(counted).size).toBe(counted.length);
        for (const { operation, result, differences } of entries) {
          if (result === "matched" && operation?.status !== "Cancelled")
            expect(operation?.state).toBe("CONFIRMED");
          expect(differences.length > 0).toBe(result === "differs");
        }
        const named = new Set(lines.flatMap(({ id, reference }) => [id, reference]));
        for (const { remoteId, reference, number } of operations)
          expect(entries.some((one) => one.operation?.number === number)).toBe(
            named.has(remoteId) || named.has(reference),
          );
      },
    ),
  );
});

test("a line that is not Completed moves no money", () => {
  const moved = { ...lineOfA, balancePaisa: 99n };
  const cancelled = { ...lineOfA, line: 3, status: "Cancelled" };
  const brokenAt = (balancePaisa: bigint) =>
    checkBalance(classify([moved, { ...cancelled, balancePaisa }], []))?.brokenAt;
  expect(brokenAt(99n)).toBeNull();
  expect(brokenAt(98n)).toEqual({ line: 3, expected: 99n, shown: 98n });
});

test.each<[string, string[], boolean | undefined]>([
  ["the newest line first", ["21", "20", "20"], true],
  ["the oldest line first", ["20", "20", "21"], false],
  ["no order", ["20", "20", "20"], undefined],
])("sees by the dates of a statement: %s", async (_, days, isNewestFirst) => {
  const rows = days.map((day, at) => `T${at},5,2026-11-${day}\n`);
  const table = await tableOf(`id,amount,date\n${rows.join("")}`);
  const lines = await readLines(table, recognize(table, [], []), "Asia/Dhaka");
  expect(lines.isNewestFirst).toBe(isNewestFirst);
});

test("uses the order in which the balances are right if the dates show none", () => {
  const moved = (line: number, balancePaisa: bigint) => ({ ...lineOfA, line, balancePaisa });
  const balanceOf = (lines: Line[]) => checkBalance(classify(lines, []), undefined);
  const lines = [moved(2, 97n), moved(3, 98n), moved(4, 99n)];
  const right = { opening: 100n, closing: 97n, brokenAt: null };
  expect(balanceOf(lines)).toMatchObject(right);
  expect(balanceOf(lines.toReversed())).toMatchObject(right);
  // Wrong in both orders.
  expect(balanceOf([moved(2, 98n), moved(3, 95n)])).toMatchObject({
    brokenAt: { line: 3, expected: 97n, shown: 95n },
  });
});

test("a balance shows the direction of an amount that has none", () => {
  const plain = { ...lineOfX, movementPaisa: null, kind: null };
  const lines = [
    { ...plain, amountPaisa: null, balancePaisa: 100n },
    { ...plain, line: 3, balancePaisa: 99n },
    { ...plain, line: 4, balancePaisa: 100n },
  ];
  const right = { opening: 100n, movements: 0n, closing: 100n, brokenAt: null };
  expect(checkBalance(classify(lines, []), false)).toEqual({ ...right, fees: 0n });
  expect(checkBalance(classify(lines.toReversed(), []), true)).toEqual({ ...right, fees: 0n });
  for (const shown of [98n, 100n])
    expect(
      checkBalance(classify([...lines, { ...plain, line: 5, balancePaisa: shown }], []), false),
    ).toMatchObject({ brokenAt: { line: 5, expected: null, shown } });
});

test("finds the first line that breaks the balance, in both orders, with and without fees", () => {
  fc.assert(
    fc.property(
      fc.array(
        line.filter((one) => one.amountPaisa !== null),
        { minLength: 3, maxLength: 12 },
      ),
      fc.bigInt({ min: -5n, max: 1_000n }),
      fc.boolean(),
      fc.boolean(),
      fc.option(fc.nat()),
      (given, opening, hasFees, isNewestFirst, broken) => {
        let balance = opening;
        const lines = given.map((one, place): Line => {
          const feePaisa = hasFees ? one.feePaisa : null;
          balance += (one.movementPaisa ?? 0n) - (feePaisa ?? 0n);
          const span = { fromMs: place, toMs: place };
          return { ...one, line: place, feePaisa, span, balancePaisa: balance };
        });
        const changed = broken === null ? undefined : lines[1 + (broken % (lines.length - 1))];
        if (changed) changed.movementPaisa = (changed.movementPaisa ?? 0n) + 100n;
        const entries = classify(isNewestFirst ? lines.toReversed() : lines, []);
        const found = checkBalance(entries, isNewestFirst);
        expect(found?.brokenAt?.line ?? null).toBe(changed?.line ?? null);
        if (changed) return;
        expect(found?.closing).toBe(
          (found?.opening ?? 0n) + (found?.movements ?? 0n) - (found?.fees ?? 0n),
        );
      },
    ),
  );
});
