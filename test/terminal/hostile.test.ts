import { expect } from "vitest";
import { paymentOf } from "../merchant.ts";
import { openShop } from "./shop.ts";
import { terminalTest } from "./terminal.ts";

const hostile = [
  ["escape sequences", "\u001b[2J\u001b[31mPaid\u001b]0;owned\u0007 already"],
  ["a new line", "one\r\n✔ Create a refund? Yes"],
  ["bidirectional marks", "\u202eevil\u202c \u2066x\u2069"],
  ["great length", "লাল জামা ".repeat(200)],
  ["wide characters", "漢字かな".repeat(30)],
] as const;

terminalTest("descriptions that would take the screen over stay on their lines", async () => {
  const shop = await openShop();
  for (const [what, description] of hostile) {
    const id = await shop.id(paymentOf(what));
    const sql =
      "UPDATE operations SET asked = json_set(asked, '$.description', ?) WHERE remote_id = ?";
    await shop.inLedger((database) => void database.prepare(sql).run(description, id));
  }
  const terminal = await shop.open(["pay", "get"], { columns: 60 });
  await terminal.shows("Enter to take");
  const screen = await terminal.screen();
  const [first, ...lines] = screen.split("\n");
  expect(first).toBe("? Which payment?");
  expect(lines.map((line) => line.slice(0, 4))).toEqual(["❯ TX", ...Array(6).fill("  TX"), "type"]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
  expect(screen).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/);
  await terminal.answer("Which payment?", "evil");
  expect((await terminal.ended()).code).toBe(0);
});

terminalTest(
  "a terminal that changes its size in the middle keeps the question whole",
  async () => {
    const shop = await openShop();
    const terminal = await shop.open(["refund", "create"], { columns: 100, rows: 30 });
    await terminal.shows("Enter to take");
    await terminal.resize({ columns: 40, rows: 12 });
    await terminal.shows(/❯ TX[^\n]{1,36}…\n {2}TX[^\n]{1,36}…\n/);
    await terminal.type("two shirts");
    await terminal.shows(/two shirts\n❯ TX[^\n]{1,36}…\n/);
    await terminal.resize({ columns: 120, rows: 40 });
    await terminal.shows("Order 42, two shirts  Processing");
    await terminal.press("Enter");
    await terminal.shows("Amount to pay back, in taka: (1250.5)");
    await terminal.press("C-c");
    expect((await terminal.ended()).isRestored).toBe(true);
  },
);
