import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { threeUnknown, unknownBatch } from "../commands/unknown-batch.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost } from "../support/lenden.ts";
import { openMerchant, paidPayment, paymentOf, refundOf } from "../support/merchant.ts";
import { openPrompts } from "./terminal.ts";

/** A merchant with two payments and a refund whose outcome is unknown. */
async function withUnknown() {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const paid = await paidPayment(merchant);
  ill.push(...faults("createPayment:lost-reply"), ...faults("createRefund:lost-reply"));
  for (const line of [paymentOf("made"), paymentOf("not made"), refundOf(paid, "3")])
    expect((await merchant.lenden(line)).code).toBe(75);
  const terminal = openPrompts(["ledger", "resolve"], { env: merchant.env });
  return { merchant, terminal };
}

test("ledger resolve asks about each unknown outcome and records the answers", async () => {
  const { merchant, terminal } = await withUnknown();
  const made = (await merchant.books("payments")).find((row) => row.description === "made");
  await terminal.shows(/Description +made\n[\s\S]*❯/);
  await terminal.press("Down", "Enter");
  await terminal.answer("Its ID:", String(made?.id));
  await terminal.shows(/Description +not made\n[\s\S]*❯/);
  await terminal.press("Down", "Down", "Enter");
  await terminal.shows(/Outcome unknown: refund\n[\s\S]*❯/);
  await terminal.press("Enter");
  await terminal.answer("Resolve unknown outcomes?", "y");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(75);
  expect(screen).toMatch(new RegExp(`lenden ledger resolve OP\\w+ --created ${made?.id}\\n`));
  expect(screen).toMatch(/lenden ledger resolve OP\w+ --not-created\n/);
  const operations = await merchant.inLedger((database) =>
    database.prepare("SELECT state, remote_id FROM operations ORDER BY number").all(),
  );
  expect(operations.slice(1)).toMatchObject([
    { state: "CONFIRMED", remote_id: made?.id },
    { state: "NOT_SENT" },
    { state: "UNCERTAIN" },
  ]);
});

test("ledger resolve records nothing without a yes at the end", async () => {
  const { merchant, terminal } = await withUnknown();
  for (const about of [
    /Description +made\n[\s\S]*❯/,
    /Description +not made\n[\s\S]*❯/,
    /Outcome unknown: refund\n[\s\S]*❯/,
  ]) {
    await terminal.shows(about);
    await terminal.press("Down", "Down", "Enter");
  }
  await terminal.answer("Resolve unknown outcomes?", "");
  expect((await terminal.ended()).code).toBe(4);
  const { stdout } = await merchant.lenden(["ledger", "export", "--json"]);
  expect(stdout.match(/"UNCERTAIN"/g)).toHaveLength(3);
});

test("payout batch resolve leaves a row that changed while it asked", async () => {
  const { merchant, resolve, states } = await unknownBatch();
  const terminal = openPrompts(resolve("--not-created"), { env: merchant.env });
  await terminal.shows("Record 3 rows as not created?");
  const resolved = await merchant.lenden(["ledger", "resolve", "ROW-3"], { host: jumpingHost() });
  expect(resolved).toMatchObject({ code: 0 });

  await terminal.answer("Record 3 rows as not created?", "y");

  const { code, screen } = await terminal.ended();
  expect([code, await states()]).toEqual([0, ["CONFIRMED", "NOT_SENT", "CONFIRMED", "NOT_SENT"]]);
  expect(screen).toMatch(/Line 4 \(ROW-3\).*CONFIRMED/);
  expect(screen).toContain("2 rows recorded as not created.");
});

test("payout batch resolve changes nothing by default", async () => {
  const { merchant, resolve, states } = await unknownBatch();
  const terminal = openPrompts(resolve("--not-created"), { env: merchant.env });
  await terminal.answer("Record 3 rows as not created?", "");
  expect((await terminal.ended()).code).toBe(4);
  expect(await states()).toEqual(threeUnknown);
});
