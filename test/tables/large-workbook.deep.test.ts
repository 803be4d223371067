import { expect, test } from "vitest";
import { readBytes, xlsxOf } from "./workbooks.ts";

test("a workbook has at most 100,000 rows", async () => {
  const rows = (count: number) =>
    Array.from(
      { length: count },
      (_, at) => `<row r="${at + 1}"><c r="A${at + 1}"><v>${at}</v></c></row>`,
    );
  const most = await readBytes(xlsxOf({ sheets: { A: rows(100_000).join("") } }));
  expect(most.rows).toHaveLength(100_000);
  const more = xlsxOf({ sheets: { A: rows(100_001).join("") } });
  await expect(readBytes(more)).rejects.toThrow("more than 100,000 rows");
});
