import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { built } from "../support/lenden.ts";
import { openMerchantApart } from "../support/merchant.ts";

test("reconciles a statement of many lines in little memory", async () => {
  const merchant = await openMerchantApart();
  const file = join(merchant.dataFolder, "..", "long.csv");
  const rows = Array.from({ length: 60_000 }, (_, at) => `2026-11-20,FEE-${at},charge,-1.25\n`);
  writeFileSync(file, `date,id,type,amount\n${rows.join("")}`);
  const map = ["date", "id", "type", "amount"].flatMap((one) => ["--map", `${one}=${one}`]);
  const env = { ...merchant.env, NODE_OPTIONS: "--max-old-space-size=72" };
  const { code, stderr } = await built(["reconcile", file, ...map], { env });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("Fees: BDT 75,000.00.\nfee: 60000\n"),
  });
});
