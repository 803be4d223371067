import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built } from "../support/lenden.ts";
import { openMerchantApart } from "../support/merchant.ts";

const row = "A-1,5,01712345678,bkash";
const start = `ref,amount,to,method\r\n${row}\r\n`;
const mebibyte = 1024 * 1024;

/** Prints the most memory that the process had, in megabytes. `maxRSS` would count what its parent had. */
const printsPeak = `--import=data:text/javascript,${encodeURIComponent(
  `import { readFileSync } from "node:fs";
  process.on("exit", () =>
    console.error("peak " + /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1] / 1024));`,
)}`;

async function checked(file: string, env: Record<string, string>) {
  const args = ["payout", "batch", "check", file, "--method", "bkash"];
  const ended = await built(args, { env: { ...env, NODE_OPTIONS: printsPeak } });
  const peak = Number(/^peak ([\d.]+)$/m.exec(ended.stderr)?.[1]);
  return { ...ended, peak };
}

test("batch check names a row of more than 64 KiB, and never has it in memory", async () => {
  const { env } = await openMerchantApart();
  const file = join(scratchFolder(), "long.csv");
  const open = openSync(file, "w");
  writeSync(open, `${start}A-2,5,01812345678,`);
  for (let at = 0; at < 200; at += 1) writeSync(open, Buffer.alloc(mebibyte, "x"));
  closeSync(open);
  const { code, stdout, peak } = await checked(file, env);
  const problem = expect.stringMatching(/^3 .*This row is longer than 65536 characters/m);
  expect({ code, stdout }).toEqual({ code: 2, stdout: problem });
  expect(peak).toBeGreaterThan(20);
  expect(peak).toBeLessThan(150);
});

test.each([
  ["the header", `ref,${"x".repeat(mebibyte)}\n${row}\n`, /^1 .*This row is longer/m],
  ["a line after LF", `ref,amount\n\n${"x".repeat(mebibyte + 1)}`, /^3 .*This row is longer/m],
  ["a line after CR", `ref\ra\r\r${"x".repeat(mebibyte + 1)}\r`, /^4 .*This row is longer/m],
  ["UTF-16", Buffer.from(`\ufeff${"x".repeat(mebibyte)}`, "utf16le"), /^1 .*This row is longer/m],
])("batch check names %s that is too long by its line", async (_, text, says) => {
  const { env } = await openMerchantApart();
  const file = join(scratchFolder(), "long.csv");
  writeFileSync(file, text);
  const { code, stdout } = await checked(file, env);
  expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringMatching(says) });
});

test("batch check reads lines that together are longer than 1 MiB", async () => {
  const { env } = await openMerchantApart();
  const file = join(scratchFolder(), "many.csv");
  const rows = Array.from({ length: 4_000 }, (_, at) => `A-${at},5,017${10_000_000 + at},\r`);
  const note = "n".repeat(300);
  writeFileSync(
    file,
    `ref,amount,to,name\r${rows.map((one) => one.replace("\r", `${note}\r`)).join("")}`,
  );
  expect(await checked(file, env)).toMatchObject({ code: 0 });
});

test("batch check rejects more than 500,000 rows, and advises to split the file", async () => {
  const { env } = await openMerchantApart();
  const file = join(scratchFolder(), "many.csv");
  const rows = Array.from({ length: 500_001 }, (_, at) => `5,017${10_000_000 + at}\n`);
  writeFileSync(file, `amount,to\n${rows.join("")}`);
  const { code, stdout } = await checked(file, env);
  expect(code).toBe(2);
  expect(stdout).toMatch(/\b500002\b.*at most 500,000 rows/s);
});
