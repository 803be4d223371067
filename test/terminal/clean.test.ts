import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { openMerchant } from "../support/merchant.ts";
import { openPrompts } from "./terminal.ts";

test("payout batch clean shows what it changes, and asks before it writes", async () => {
  const merchant = await openMerchant();
  const file = fileOf('Name,Mobile,Amount\nA,1712345678,"1,000/-"\n');
  const path = join(merchant.dataFolder, "clean.csv");
  const args = ["payout", "batch", "clean", file, "--write", path];
  const declined = openPrompts(args, { env: merchant.env });
  await declined.shows(/line 2: "1712345678" becomes 01712345678/);
  await declined.answer("Write the clean payroll?", "n");
  expect(await declined.ended()).toMatchObject({ code: 4 });
  expect(existsSync(path)).toBe(false);

  const confirmed = openPrompts(args, { env: merchant.env });
  await confirmed.answer("Write the clean payroll?", "y");
  expect(await confirmed.ended()).toMatchObject({ code: 0 });
  expect(readFileSync(path, "utf8")).toContain('A,"01712345678",1000');
});
