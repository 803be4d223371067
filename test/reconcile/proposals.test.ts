import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Merchant } from "../support/merchant.ts";
import { merchantWithPayouts, reconciledBy } from "./small-statement.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await merchantWithPayouts(
    [
      ["FLD-1", "1250.50", "01712345678"],
      ["FLD-2", "500", "01812345678"],
      ["FLD-3", "125000", "01912345678"],
    ],
    afterAll,
  );
});

async function reconciled(lines: string[], ...more: string[]) {
  const { code, stderr, found } = await reconciledBy(merchant, lines, ...more);
  const proposed = found.lines?.map(({ proposals }) =>
    proposals.map((one) => one.reference).join(),
  );
  const fieldOf = (column: string) => found.columns?.find((one) => one.column === column)?.field;
  return { code, stderr, proposed, fieldOf };
}

/** In Dhaka, where the day begins six hours earlier. */
function dayBefore(days: number): string {
  return new Date(Date.now() + 6 * 3_600_000 - days * 86_400_000).toISOString().slice(0, 10);
}

const header = "Date,Transaction ID,Details,Debit,Credit";
const other = `${dayBefore(0)},T9,Sent to 01512345678,9,`;

describe("a text with a mobile number", () => {
  test.each<[string, string, string]>([
    ["is proposed by recipient and amount", "T1,Sent to 01712345678 by app,1250.50,", "FLD-1"],
    ["may have a country code", "T1,TRF/+88 01712-345678/DHAKA,1250.50,", "FLD-1"],
    ["may have the number of the account too", "T1,01600000000 to 01712345678,1250.50,", "FLD-1"],
    ["is not proposed with another number", "T1,Sent to 01712345679,1250.50,", ""],
    ["is not proposed with a longer number", "T1,Sent to 9017123456781,1250.50,", ""],
    ["is not proposed with another amount", "T1,Sent to 01712345678,1250,", ""],
    ["is not proposed for a credit", "T1,Sent to 01712345678,,1250.50", ""],
  ])("%s", async (_, line, proposal) => {
    const found = await reconciled([header, `${dayBefore(0)},${line}`, other]);
    expect(found).toMatchObject({ code: 6, proposed: [proposal, ""] });
    expect(found.fieldOf("Details")).toBe("narration");
    const hint = "use --accept-unique --reason <text>";
    expect(found.stderr.includes(hint)).toBe(proposal !== "");
  });

  test.each([
    [2, "FLD-1"],
    [10, ""],
  ])("%i days before the payout is proposed as %j", async (days, proposal) => {
    const line = `${dayBefore(days)},T1,Sent to 01712345678,1250.50,`;
    expect((await reconciled([header, line, other])).proposed).toEqual([proposal, ""]);
  });

  test("is no narration if all lines have one number, which is that of the account", async () => {
    const rows = ["T1,01600000000,1250.50,", "T2,01600000000,500,"];
    const found = await reconciled([header, ...rows.map((row) => `${dayBefore(0)},${row}`)]);
    expect(found.fieldOf("Details")).toBeUndefined();
  });
});

describe("a narration beside the provider's own IDs", () => {
  const rows = ["T1,TRF FLD-1 DHAKA,1250.50,", "T2,TRF FLD-2 DHAKA,500,", "T3,TRF FLD-3,125000,"];
  const lines = [header, ...rows.map((row) => `${dayBefore(0)},${row}`)];
  const narration = ["--map", "Details=narration"];

  test("is searched", async () => {
    const found = await reconciled(lines, ...narration);
    expect(found).toMatchObject({ code: 0 });
    expect(found.fieldOf("Transaction ID")).toBe("line-id");
  });

  test("is named in the hint if too few lines show whose IDs these are", async () => {
    const few = lines.slice(0, 3);
    const hint = "--map 'Transaction ID=line-id'";
    expect((await reconciled(few)).stderr).toContain(hint);
    expect((await reconciled(few, ...narration)).stderr).toContain(hint);
    const found = await reconciled(few, ...narration, "--map", "Transaction ID=line-id");
    expect(found.stderr).not.toContain(hint);
    expect(found.stderr).toContain("1 operation is not in s.csv (FLD-3");
  });
});
