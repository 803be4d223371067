import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost } from "../support/lenden.ts";
import { openProductionMerchant } from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";

/** Payouts of unknown outcome in production, of which the API has none: 500 and 12,000 taka. */
async function withUnknown() {
  const ill: Fault[] = faults("createPayout:status-500");
  const merchant = await openProductionMerchant({ faults: ill });
  for (const [reference, amount, to] of [
    ["SMALL", "500", "01712345678"],
    ["LARGE", "12000", "01812345678"],
  ]) {
    const order = ["--amount", amount ?? "", "--to", to ?? "", "--method", "bkash"];
    const line = ["payout", "send", "--ref", reference ?? "", ...order, "--yes"];
    expect(await merchant.lendenUnasked(line, {}, jumpingHost())).toMatchObject({ code: 75 });
  }
  ill.splice(0);
  const resolve = (...more: string[]) =>
    merchant.lendenUnasked(["ledger", "resolve", ...more], {}, jumpingHost());
  return { merchant, resolve, sent: () => merchant.books("payouts") };
}

const expected = ["--expect-total", "12500", "--expect-count", "2"];

test("ledger resolve shows each payout that it would send, and sends none without the expected total", async () => {
  const { resolve, sent } = await withUnknown();
  const { code, stderr } = await resolve("--yes");
  expect(code).toBe(4);
  expect(stderr).toMatch(
    /Sent again: SMALL: amount BDT 500\.00, to 01712345678, method bkash, recorded by tester on test, \d+ /,
  );
  expect(stderr).toMatch(/LARGE: amount BDT 12,000\.00, to 01812345678/);
  expect(stderr).toContain("Total: BDT 12,500.00 in 2 payouts");
  expect(stderr).toContain("lenden ledger resolve --yes --expect-total 12500 --expect-count 2'");
  expect((await resolve(...expected)).code).toBe(4);
  expect(await sent()).toEqual([]);
});

test.each([
  ["the total", ["--expect-total", "12500.01", "--expect-count", "2"]],
  ["the count", ["--expect-total", "12500", "--expect-count", "3"]],
])("ledger resolve sends nothing if %s differs", async (_, flags) => {
  const { resolve, sent } = await withUnknown();
  const { code, stderr } = await resolve("--yes", "--json", ...flags);
  expect([code, JSON.parse(stderr.trim().split("\n").at(-1) ?? "")]).toMatchObject([
    2,
    { error: { reason: "resolve.expectation-differs", effect: "nothing-sent" } },
  ]);
  expect(await sent()).toEqual([]);
});

test("ledger resolve sends what the command line expects", async () => {
  const { resolve, sent } = await withUnknown();
  const one = ["SMALL", "--yes", "--expect-total", "500", "--expect-count", "1"];
  expect((await resolve(...one)).code).toBe(0);
  expect(await sent()).toHaveLength(1);
  expect((await resolve("--yes", ...expected)).code).toBe(2);
  expect((await resolve("--yes", "--expect-total", "12000", "--expect-count", "1")).code).toBe(0);
  expect(await sent()).toHaveLength(2);
});

test("ledger resolve needs no total for what sends nothing", async () => {
  const { resolve, sent } = await withUnknown();
  expect((await resolve("SMALL", "--not-created", "--yes")).code).toBe(0);
  expect(await sent()).toEqual([]);
});

test("ledger resolve lists a payout without a valid seal apart, and does not count it", async () => {
  const { merchant, resolve, sent } = await withUnknown();
  await merchant.inLedger((ledger) =>
    ledger.exec("UPDATE operations SET seal = 'x' WHERE reference = 'LARGE'"),
  );
  const { code, stderr } = await resolve("--yes");
  expect([code, stderr]).toEqual([
    4,
    expect.stringContaining("--expect-total 500 --expect-count 1"),
  ]);
  expect(stderr).toMatch(/Not sent, because its seal is not valid: LARGE: amount BDT 12,000\.00/);
  expect(await sent()).toEqual([]);
});

test("ledger resolve asks for each large payout with its amount, and once for the others", async () => {
  const { merchant, sent } = await withUnknown();
  const env = merchant.env;
  const declined = openPrompts(["ledger", "resolve"], { env });
  await declined.answer("Type the amount (12000) to confirm", "y");
  expect((await declined.ended()).code).toBe(4);
  const half = openPrompts(["ledger", "resolve"], { env });
  await half.answer("Type the amount (12000) to confirm", "12000");
  await half.answer("Resolve unknown outcomes?", "");
  expect((await half.ended()).code).toBe(4);
  expect(await sent()).toEqual([]);
  const terminal = openPrompts(["ledger", "resolve"], { env });
  await terminal.answer("Type the amount (12000) to confirm", "12000");
  await terminal.answer("Resolve unknown outcomes?", "y");
  expect((await terminal.ended()).code).toBe(0);
  expect(await sent()).toHaveLength(2);
});

test("ledger resolve sends only what it showed, although a seal is restored before the answer", async () => {
  const { merchant, sent } = await withUnknown();
  const seal = await merchant.inLedger((ledger) => {
    const of = ledger.prepare("SELECT seal FROM operations WHERE reference = 'SMALL'").get();
    ledger.exec("UPDATE operations SET seal = 'x' WHERE reference = 'SMALL'");
    return String(of?.seal);
  });
  const terminal = openPrompts(["ledger", "resolve"], { env: merchant.env });
  await terminal.answer("Type the amount (12000) to confirm", "12000");
  await terminal.shows("Resolve unknown outcomes?");
  await merchant.inLedger((ledger) =>
    ledger.exec(`UPDATE operations SET seal = '${seal}' WHERE reference = 'SMALL'`),
  );
  await terminal.answer("Resolve unknown outcomes?", "y");
  expect((await terminal.ended()).code).toBe(75);
  expect(await sent()).toMatchObject([{ amount: 12_000 }]);
});
