import { expect } from "vitest";
import { fileOf } from "../batch/files.ts";
import { openMerchant } from "../support/merchant.ts";
import { openTerminal, terminalTest } from "./terminal.ts";

const rows = Array.from({ length: 12 }, (_, row) => `R-${row},${row + 1},01712345678,bkash`);
const file = ["ref,amount,to,method", ...rows, ""].join("\n");

terminalTest(
  "shows a bar, rows, amounts, speed and the time left while a batch is sent",
  async () => {
    const merchant = await openMerchant({ latencyMs: 300 });
    const line = ["payout", "batch", "send", fileOf(file), "--concurrency", "2"];
    const terminal = await openTerminal(line, { env: merchant.env, columns: 110, rows: 40 });
    await terminal.shows(
      /█+░+ \d+ of 12 rows · BDT [\d.]+ of BDT 78\.00 · \d s left · [\d.]+ rows\/s/,
    );
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toMatch(/█{30} 12 of 12 rows · BDT 78\.00 of BDT 78\.00 · [\d.]+ rows\/s/);
  },
);
