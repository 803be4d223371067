import { expect } from "vitest";
import { threeUnknown, unknownBatch } from "../commands/unknown-batch.ts";
import { openTerminal, terminalTest } from "./terminal.ts";

terminalTest("payout batch resolve leaves a row that changed while it asked", async () => {
  const { merchant, resolve, states } = await unknownBatch(true);
  const terminal = await openTerminal(resolve("--not-created"), { env: merchant.env, rows: 60 });
  await terminal.shows("Record 3 rows as not created?");
  expect(await merchant.built(["ledger", "resolve", "ROW-3"])).toMatchObject({ code: 0 });

  await terminal.answer("Record 3 rows as not created?", "y");

  const { code, screen } = await terminal.ended();
  expect([code, await states()]).toEqual([0, ["CONFIRMED", "NOT_SENT", "CONFIRMED", "NOT_SENT"]]);
  expect(screen).toContain("Line 4 (ROW-3) stays as it is: it changed meanwhile (CONFIRMED).");
  expect(screen).toContain("2 rows recorded as not created.");
});

terminalTest("payout batch resolve changes nothing by default", async () => {
  const { merchant, resolve, states } = await unknownBatch(true);
  const terminal = await openTerminal(resolve("--not-created"), { env: merchant.env, rows: 60 });

  await terminal.answer("Record 3 rows as not created?", "");

  expect((await terminal.ended()).code).toBe(4);
  expect(await states()).toEqual(threeUnknown);
});
