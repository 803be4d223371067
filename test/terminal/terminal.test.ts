import { expect } from "vitest";
import { openTerminal, terminalTest } from "./terminal.ts";

terminalTest("a run in a terminal has a screen, a code and a size", async () => {
  const terminal = await openTerminal(["payout", "get", "--no-input"], { columns: 40, rows: 10 });
  const { code, screen, isRestored } = await terminal.ended();
  expect(screen).toMatch(/^error: <payoutId> is missing/);
  expect(code).toBe(2);
  expect(isRestored).toBe(true);
});
