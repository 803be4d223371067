import { expect } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { openMerchant, paidPayment, paymentOf, refundOf } from "../merchant.ts";
import { faults } from "../sandbox/running.ts";
import { openTerminal, terminalTest } from "./terminal.ts";

/** A merchant with two payments and a refund that nobody is sure of. */
async function doubtful() {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const paid = await paidPayment(merchant);
  ill.push(...faults("createPayment:lost-reply"), ...faults("createRefund:lost-reply"));
  for (const line of [paymentOf("made"), paymentOf("not made"), refundOf(paid, "3")])
    expect((await merchant.lenden(line)).code).toBe(75);
  return merchant;
}

terminalTest(
  "ledger resolve asks what the dashboard shows of each, and leaves the rest",
  async () => {
    const merchant = await doubtful();
    const made = (await merchant.books("payments")).find((row) => row.description === "made");
    const terminal = await openTerminal(["ledger", "resolve"], { env: merchant.env, rows: 60 });
    await terminal.shows(/Description +made/);
    await terminal.press("Down", "Enter");
    await terminal.answer("Its ID:", String(made?.id));
    await terminal.shows(/Description +not made/);
    await terminal.press("Down", "Down", "Enter");
    await terminal.shows(/Uncertain refund/);
    await terminal.press("Enter");
    await terminal.answer("Resolve unknown outcomes?", "y");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(75);
    expect(screen).toMatch(new RegExp(`lenden ledger resolve OP\\w+ --created ${made?.id}\\n`));
    expect(screen).toMatch(/lenden ledger resolve OP\w+ --not-created\n/);
    const settled = await merchant.inLedger((database) =>
      database.prepare("SELECT state, remote_id FROM operations ORDER BY number").all(),
    );
    expect(settled.slice(1)).toMatchObject([
      { state: "CONFIRMED", remote_id: made?.id },
      { state: "NOT_SENT" },
      { state: "UNCERTAIN" },
    ]);
  },
);

terminalTest("ledger resolve settles nothing without a yes at the end", async () => {
  const merchant = await doubtful();
  const terminal = await openTerminal(["ledger", "resolve"], { env: merchant.env, rows: 60 });
  for (const question of [/Description +made/, /Description +not made/, /Uncertain refund/]) {
    await terminal.shows(question);
    await terminal.press("Down", "Down", "Enter");
  }
  await terminal.answer("Resolve unknown outcomes?", "");
  expect((await terminal.ended()).code).toBe(4);
  const { stdout } = await merchant.lenden(["ledger", "export", "--json"]);
  expect(stdout.match(/"UNCERTAIN"/g)).toHaveLength(3);
});
