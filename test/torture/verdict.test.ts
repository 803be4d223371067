import { describe, expect, test } from "vitest";
import { type Booked, orderOf, ordersOf } from "../../src/conformance/torture/books.ts";
import {
  type Belief,
  type Order,
  readBeliefs,
  readOrders,
} from "../../src/conformance/torture/expected.ts";
import { findingsIn } from "../../src/conformance/torture/verdict.ts";

const rowsOf = (text: string) =>
  text.split("\n").map((line, index) => ({ line: index + 1, cells: line.split(",") }));

const order = (name: string, more: Partial<Order> = {}): Order => ({
  ...{ kind: "payout", order: name, amountPaisa: 500_00n, to: "01712345678", names: [name] },
  ...more,
});
const record = (reference: string | null, more: Partial<Booked> = {}): Booked => ({
  ...{ kind: "payout", id: "PO1", status: "Completed", reference, description: null },
  ...{ amountPaisa: 500_00n, to: "01712345678" },
  ...more,
});

test("expected orders are read, with amounts in paisa and recipients in one form", () => {
  const text =
    "kind,order,amount,to\npayout,INV-1,0.29,+8801712345678\npayment,7,1250.5,\nrefund,7,5,01812345678";
  expect(readOrders(rowsOf(text))).toEqual({
    problems: [],
    items: [
      order("INV-1", { amountPaisa: 29n }),
      order("7", { kind: "payment", amountPaisa: 1250_50n, to: null }),
      order("7", { kind: "refund", amountPaisa: 5_00n, to: "01812345678" }),
    ],
  });
});

test("all bad rows of the expected orders are named", () => {
  const text = `kind,order,amount,to
payout,INV-1,500,01712345678
payouts,INV-2,500,01712345678
payout,,500,01712345678
payout,INV-3,"1.250",1712345678
payment,INV-4,500,01712345678
payout,INV-1,500,01712345678
payout,INV-5,500`;
  const { problems } = readOrders(rowsOf(text));
  expect(problems.map((problem) => problem.slice(0, 40))).toEqual([
    'Line 3: The kind "payouts" is not one of',
    "Line 4: The order needs a letter or a di",
    'Line 5: "\\"1.250\\"" is not a valid amoun',
    'Line 5: The mobile number "1712345678" h',
    "Line 6: A payment has no recipient in 't",
    "Line 7: Line 2 has the same kind and ord",
    "Line 8: The row has 3 cells instead of 4",
  ]);
  expect(readOrders(rowsOf("order,amount\nINV-1,5")).problems).toEqual([
    "The first line must be kind,order,amount,to.",
  ]);
});

test("beliefs are read with the words of the API or of people, and bad rows are named", () => {
  const text = "order,status\nINV-1,Completed\nINV-1,failed\nINV-2,paid\nINV-1,sent";
  const { items, problems } = readBeliefs(rowsOf(text), [order("INV-1")]);
  expect(items.map(({ status }) => status)).toEqual(["paid", "failed"]);
  expect(problems).toEqual([
    'Line 4: The order "INV-2" is not expected.',
    expect.stringContaining('Line 5: The status "sent" is not one of: paid, '),
  ]);
});

describe("a record belongs to", () => {
  const orders = [
    order("INV-1"),
    order("INV-1-2", { amountPaisa: 7_00n }),
    order("INV-12", { amountPaisa: 9_00n, to: "01912345678" }),
    order("INV-1", { kind: "refund" }),
  ];
  test.each<[string, Booked, Order | undefined]>([
    ["the order in its reference", record("pay_INV-1_try2"), orders[0]],
    ["the order in its description", record("X", { description: "For INV-12!" }), orders[2]],
    ["the longest of several orders", record("INV-1-2", { amountPaisa: 1n }), orders[1]],
    ["the named order with its amount", record("INV-1 INV-12"), orders[0]],
    ["an order of its kind", record("INV-1", { kind: "refund" }), orders[3]],
    ["the only one with its amount and recipient", record("X", { amountPaisa: 7_00n }), orders[1]],
    ["no order if it names part of a word", record("INV-123", { amountPaisa: 1n }), undefined],
  ])("%s", (_, one, expected) => {
    expect(orderOf(one, orders)).toBe(expected);
  });

  test("no order if two have its amount and recipient", () => {
    expect(orderOf(record("X"), [order("INV-1"), order("INV-2")])).toBeUndefined();
  });
});

test("a first round is an expectation: a shared description names no order", () => {
  const books = [
    record("A-1", { description: "November" }),
    record("B-1", { description: "November", to: "01812345678" }),
  ];
  const orders = ordersOf(books);
  expect(orders.map(({ names }) => names)).toEqual([["A-1"], ["B-1"]]);
  expect(findingsIn(books, orders, [])).toEqual([]);
});

test("a refund whose outcome the program calls unknown is left to a person", () => {
  const orders = [order("INV-1", { kind: "refund" }), order("INV-2")];
  const unknown = (name: string): Belief => ({ order: name, status: "unknown" });
  const found = findingsIn([], orders, [unknown("INV-1"), unknown("INV-2")]);
  expect(found.map((one) => one.order?.order)).toEqual(["INV-2"]);
});

describe("the verdict on", () => {
  const about = (books: Booked[], beliefs: Belief[] = []) =>
    findingsIn(books, [order("INV-1")], beliefs).map(({ kind, amountPaisa, belief }) => [
      kind,
      amountPaisa,
      ...(belief ? [belief] : []),
    ]);
  test.each<[string, Booked[], unknown[]]>([
    ["one record", [record("INV-1")], []],
    ["no record", [], [["never-paid", 500_00n]]],
    ["two records", [record("INV-1"), record("INV-1b-INV-1")], [["paid-twice", 500_00n]]],
    ["a cancelled one", [record("INV-1", { status: "Cancelled" })], [["never-paid", 500_00n]]],
    ["another amount", [record("INV-1", { amountPaisa: 1n })], [["wrong-amount", -49_999n]]],
    ["another recipient", [record("INV-1", { to: "1" })], [["wrong-recipient", 500_00n]]],
    [
      "a record of no order",
      [record("INV-1"), record("X", { amountPaisa: 3n })],
      [["unexpected", 3n]],
    ],
  ])("%s", (_, books, expected) => {
    expect(about(books)).toEqual(expected);
  });

  test.each<[Belief["status"], Booked["status"] | "missing", boolean]>([
    ["paid", "Completed", true],
    ["paid", "Processing", false],
    ["paid", "missing", false],
    ["failed", "missing", true],
    ["failed", "Processing", false],
    ["failed", "Completed", false],
    ["processing", "Completed", true],
    ["processing", "missing", false],
    ["unknown", "missing", true],
    ["unknown", "Completed", true],
  ])("a program that calls an order %s when it is %s", (called, is, isRight) => {
    const books = is === "missing" ? [] : [record("INV-1", { status: is })];
    const found = about(books, [{ order: "INV-1", status: called }]);
    const wrong = ["wrong-belief", 500_00n, { called, is }];
    expect(found.filter(([kind]) => kind === "wrong-belief")).toEqual(isRight ? [] : [wrong]);
  });
});
