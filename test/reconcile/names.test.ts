import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Merchant } from "../support/merchant.ts";
import { merchantWithPayouts, reconciledBy } from "./small-statement.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await merchantWithPayouts(
    [
      ["FLD-1", "1250.50", "01712345678"],
      ["fld-2", "500", "01812345678"],
      ["FLD-10", "700", "01912345678"],
    ],
    afterAll,
  );
});

async function reconciled(lines: string[], ...more: string[]) {
  const { code, stderr, found } = await reconciledBy(merchant, lines, ...more);
  return {
    code,
    stderr,
    fields: Object.fromEntries(found.columns?.map(({ column, field }) => [column, field]) ?? []),
    results: found.lines?.map(({ line, result }) => `${line} ${result}`),
    reasons: found.lines?.flatMap(({ reason }) => reason ?? []),
  };
}

describe("reconcile, for names among other words", () => {
  test.each([
    ["a narration", ["TRF TO FLD-1 DHAKA", "TRF TO fld-2 DHAKA", "TRF/FLD-10/DHAKA"]],
    ["capitals", ["PAID FLD-1", "PAID FLD-2", "PAID FLD-10."]],
    ["small letters", ["paid fld-1 today", "paid (fld-2)", "paid fld-10"]],
  ])("finds them in %s", async (_, [one, two, three]) => {
    const rows = [`${one},1250.50,`, `${two},500.00,`, `${three},700.00,`];
    const found = await reconciled(["Narration,Debit,Credit", ...rows]);
    expect(found).toMatchObject({ code: 0, fields: { Narration: "reference" } });
    expect(found.results).toEqual(["2 matched", "3 matched", "4 matched"]);
  });

  test("does not decide between two, and takes no part of a longer one", async () => {
    const found = await reconciled([
      "Narration,Debit,Credit",
      ...["PAID FLD-1,1250.50,", "FLD-10 AND FLD-2,700.00,", "PAID FLD-10-2,700.00,"],
    ]);
    expect(found.code).toBe(6);
    expect(found.results).toEqual(["2 matched", "3 only-in-statement", "4 only-in-statement"]);
  });

  test("compares what a narration names: money that came back differs", async () => {
    const found = await reconciled(
      ["Narration,Debit,Credit", "PAID FLD-1,1250.50,", "RETURN FLD-2,,500.00", "FLD-10 X,7,"],
      ...["--map", "Narration=narration"],
    );
    expect(found.code).toBe(5);
    expect(found.results).toEqual(["2 matched", "3 differs", "4 differs"]);
  });
});

describe("reconcile, for IDs that no operation has", () => {
  const rows = ["FLD-1,TRX8801,-1250.50", "fld-2,TRX8802,-500", "FLD-10,TRX8803,-700"];

  test("reads the IDs of the wallet as IDs of its lines", async () => {
    const found = await reconciled(["Reference,Trx ID,Amount", ...rows]);
    expect(found).toMatchObject({ code: 0, fields: { "Trx ID": "line-id" } });
  });

  test("compares them if the user says that they are the API's, and names the way out", async () => {
    const map = ["--map", "Trx ID=id"];
    const found = await reconciled(["Reference,Trx ID,Amount", ...rows], ...map);
    expect(found.code).toBe(5);
    expect(found.stderr).toContain("--map 'Trx ID=line-id'");
    const again = await reconciled(["Reference,Trx ID,Amount", ...rows], "--map", "Trx ID=line-id");
    expect(again.code).toBe(0);
  });

  test("names the column that contradicts all lines, and how to ignore it", async () => {
    const header = "Reference,Amount,Type";
    const lines = [header, "FLD-1,1250.50,Sale", "fld-2,500,Collection", "FLD-10,700,Sale"];
    const found = await reconciled(lines, "--map", "Type=type");
    expect(found.code).toBe(5);
    expect(found.stderr).toContain("--map Type=ignore");
    expect(await reconciled(lines, "--map", "Type=ignore")).toMatchObject({ code: 0 });
  });

  test("says that a spreadsheet rounded an ID", async () => {
    const found = await reconciled(["Reference,Amount", "FLD-1,-1250.50", "1.23457E+14,-75.00"]);
    expect(found).toMatchObject({ code: 6, results: ["2 matched", "3 only-in-statement"] });
    expect(found.reasons?.[0]).toContain("rounded");
  });
});
