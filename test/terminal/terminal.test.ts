import { expect } from "vitest";
import { openTerminal, terminalTest } from "./terminal.ts";

terminalTest("a run in a terminal has a screen, a code and a size", async () => {
  const terminal = await openTerminal(["payout", "get", "--no-input"], { columns: 40, rows: 10 });
  const { code, screen, isRestored } = await terminal.ended();
  expect(screen).toMatch(/^error: <payoutId> is missing/);
  expect(code).toBe(2);
  expect(isRestored).toBe(true);
});

terminalTest("what went wrong is broken between words, and a command in it is not", async () => {
  const terminal = await openTerminal(["methods"], { columns: 50, rows: 10 });
  const { screen } = await terminal.ended();
  expect(screen.split("\n")).toEqual([
    "error: There is no API key (tried: LENDEN_API_KEY,",
    "       no profile is in use).",
    "hint:  Set LENDEN_API_KEY, or add a profile with",
    "       'lenden profile add'; the merchant",
    "       dashboard has it under Settings →",
    "       Development Info. To try lenden without an",
    "       account: 'lenden sandbox start'.",
  ]);
});
