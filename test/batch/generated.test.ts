import fc from "fast-check";
import { expect, test } from "vitest";
import { totalsOf } from "../../src/batches/rows.ts";
import { Failure } from "../../src/domain/failure.ts";
import { runs } from "../support/helpers.ts";
import {
  anyStyle,
  anyTable,
  mutated,
  payoutTable,
  recordsIn,
  strictlyRead,
  strictMobile,
  strictPaisa,
  writtenCsv,
} from "./csv-files.ts";
import { examiner } from "./files.ts";

const longest = 600_000;
const delimiters = [",", ";", "\t"];

test(
  "reads any written table back, cell by cell and line by line",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyTable, anyStyle(delimiters), async (table, style) => {
        const { text, lines } = writtenCsv(table, style);
        const { records: read } = await recordsIn(text, style.delimiter);
        expect(read).toEqual(
          table
            .map((cells, index) => ({ line: lines[index], cells }))
            .filter(({ cells }) => cells.some((cell) => cell.trim() !== "")),
        );
        expect(strictlyRead(text, style.delimiter)).toEqual({ records: read, isWhole: true });
      }),
      { numRuns: runs(150, 40_000) },
    );
  },
  longest,
);

test(
  "reads any file of payouts exactly, to the paisa",
  async () => {
    const examine = examiner({ method: "bkash" });
    await fc.assert(
      fc.asyncProperty(
        payoutTable,
        anyStyle(delimiters),
        fc.boolean(),
        async (meant, style, mark) => {
          const { text, lines } = writtenCsv(meant.table, style);
          const { rows, findings } = await examine((mark ? "\ufeff" : "") + text, style.delimiter);
          expect(findings.filter(({ kind }) => kind !== "same-recipient-in-file")).toEqual([]);
          expect(rows.map(({ line, cells }) => ({ line, cells }))).toEqual(
            meant.payouts.map(({ cells }, index) => ({ line: lines[index + 1], cells })),
          );
          expect(rows.map(({ amountPaisa, recipient }) => ({ amountPaisa, recipient }))).toEqual(
            meant.payouts.map(({ paisa, mobile }) => ({ amountPaisa: paisa, recipient: mobile })),
          );
          const total = meant.payouts.reduce((sum, { paisa }) => sum + paisa, 0n);
          const { total: sum, methods } = totalsOf(rows);
          expect(sum).toEqual({ count: rows.length, sumPaisa: total });
          expect(methods.reduce((sum, { sumPaisa }) => sum + sumPaisa, 0n)).toBe(total);
        },
      ),
      { numRuns: runs(75, 15_000) },
    );
  },
  longest,
);

test(
  "reads a damaged file as a strict reader does, or rejects it",
  async () => {
    const examine = examiner({ method: "bkash" });
    let refused = 0;
    const numRuns = runs(150, 45_000);
    await fc.assert(
      fc.asyncProperty(payoutTable, anyStyle(delimiters), mutated, async (meant, style, mutate) => {
        const bytes = mutate(Buffer.from(writtenCsv(meant.table, style).text));
        const checked = await examine(bytes, style.delimiter).catch(asFailure);
        if (checked instanceof Failure) {
          refused += 1;
          return;
        }
        const { rows, findings, columns } = checked;
        refused += findings.length > 0 ? 1 : 0;
        const strict = strictlyRead(soundText(bytes), style.delimiter);
        // No cell with a zero byte is ever accepted; how such a line is parted is of no interest. Of a header with
        // a problem, only some columns are read.
        if (!bytes.includes(0) && findings[0]?.line !== strict.records[0]?.line) {
          const read = strict.records.slice(1, rows.length + 1);
          expect(rows.map(({ line, cells }) => ({ line, cells }))).toEqual(
            read.map(({ line, cells }) => ({ line, cells: cells.map(unguarded) })),
          );
        }
        if (findings.length > 0) return;
        expect(strict.isWhole && rows.length === strict.records.length - 1).toBe(true);
        const at = (names: string[]) =>
          columns.findIndex((column) => names.includes(column.trim().toLowerCase()));
        for (const [index, { amountPaisa, recipient }] of rows.entries()) {
          const cells = strict.records[index + 1]?.cells.map(unguarded) ?? [];
          expect(amountPaisa).toBe(strictPaisa(cells[at(["amount"])] ?? ""));
          expect(recipient).toBe(strictMobile(cells[at(["to", "recipientnumber"])] ?? ""));
          expect(cells).toHaveLength(columns.length);
        }
      }),
      { numRuns },
    );
    expect(refused).toBeGreaterThan(numRuns / 3);
    expect(refused).toBeLessThan(numRuns);
  },
  longest,
);

/** What a file with a zero byte at its beginning is rejected with. */
function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

/** Without the apostrophe that an export puts before a formula. */
function unguarded(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}

/** The text of the bytes up to the first that is no UTF-8, without the byte order mark. */
function soundText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\ufeff/, "");
  return text.split("\ufffd")[0] ?? "";
}
