import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatDay } from "../../src/domain/local-time.ts";
import { openMerchant } from "../merchant.ts";
import { scratchFolder } from "../run.ts";

/** A merchant with a file of two payouts, R-0 and R-1, that was sent. */
async function setup({ rows = 2 } = {}) {
  const merchant = await openMerchant();
  const file = join(scratchFolder(), "payroll.csv");
  const write = (lineEnd = "\n") => {
    const lines = Array.from({ length: rows }, (_, row) => `R-${row},5,0171234567${row},bkash`);
    writeFileSync(file, ["ref,amount,to,method", ...lines, ""].join(lineEnd));
  };
  write();
  const send = (...flags: string[]) => merchant.lenden(["payout", "batch", "send", file, ...flags]);
  expect(await send()).toMatchObject({ code: 0 });
  const sentAt = await merchant.inLedger((ledger) =>
    String(ledger.prepare("SELECT max(created_at) AS at FROM operations").get()?.at),
  );
  return { ...merchant, write, send, file, sentAt, day: formatDay(sentAt) };
}

const firstLine = ({ stderr }: { stderr: string }) => stderr.split("\n")[0];

describe("batch send of a file that was already sent completely", () => {
  test("says so in its first line, with the date of the first run", async () => {
    const { lenden, file, day, moneyRequests } = await setup();
    const aMonthLater = { now: () => Date.now() + 30 * 86_400_000 };

    const second = await lenden(["payout", "batch", "send", file], { host: aMonthLater });

    expect(second.code).toBe(0);
    expect(second.stderr).toBe(
      `All 2 rows of payroll.csv were already sent on ${day}. Nothing was sent.\nTo pay the same rows in another month, give them new references in the column ref and the batch a new name with --name.\n`,
    );
    expect(await moneyRequests()).toHaveLength(2);
  });

  test("says so in its first line if the file has other line ends or --name", async () => {
    const { send, write, day } = await setup();
    const text = `All 2 rows of payroll.csv were already sent on ${day}. Nothing was sent.`;
    expect(firstLine(await send("--name", "second"))).toBe(text);
    write("\r\n");
    expect(firstLine(await send())).toBe(text);
  });

  test("speaks of one row in the singular", async () => {
    const { send, day } = await setup({ rows: 1 });
    expect(firstLine(await send())).toBe(
      `The row of payroll.csv was already sent on ${day}. Nothing was sent.`,
    );
  });

  test("names the first and the last day if its rows were sent on several", async () => {
    const { send, day, sentAt, inLedger } = await setup();
    const earlier = new Date(Date.parse(sentAt) - 3 * 86_400_000).toISOString();
    await inLedger((ledger) =>
      ledger.prepare("UPDATE operations SET created_at = ? WHERE reference = 'R-0'").run(earlier),
    );
    expect(firstLine(await send())).toBe(
      `All 2 rows of payroll.csv were already sent between ${formatDay(earlier)} and ${day}. Nothing was sent.`,
    );
  });

  test("counts the rows that did not arrive", async () => {
    const { lenden, send, set, books, day } = await setup();
    const [payout] = await books("payouts");
    await set("payout", String(payout?.id), "Cancelled");
    await lenden(["payout", "batch", "status", "@last", "--refresh"]);

    const second = await send();

    expect(second.code).toBe(6);
    expect(firstLine(second)).toBe(
      `All 2 rows of payroll.csv were already sent on ${day}, but 1 was rejected or cancelled. Nothing was sent.`,
    );
    expect(second.stderr).not.toContain("To pay the same rows again");
  });
});
