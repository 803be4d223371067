import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fields } from "../../src/batches/fields.ts";
import { readHeader } from "../../src/batches/header.ts";
import { scratchFolder } from "../support/helpers.ts";
import { openMerchant } from "../support/merchant.ts";
import { examined, fileOf, places } from "./files.ts";

type Field = (typeof fields)[number];

const [ignore, map] = ["--ignore-columns", "--map"];

describe("the delimiter of a file", () => {
  test.each([
    ["semicolons", "ref;amount;to;method\nA;5;01712345678;bkash\n"],
    ["tabs", "ref\tamount\tto\tmethod\nA\t5\t01712345678\tbkash\n"],
    ["commas", "ref,amount,to,method\nA,5,01712345678,bkash\n"],
    ["quoted names", '"ref";"amount";"to";"method"\n"A";"5";"01712345678";"bkash"\n'],
    ["blank lines first", "\r\n;;;\r\nref;amount;to;method\r\nA;5;01712345678;bkash\r\n"],
    [
      "another delimiter in a quoted name",
      '"method";to;amount;"name,x";ref\nbkash;01712345678;5;"a,b";A\n',
    ],
    ["columns in capitals", "REF;To;Amount, BDT\nA;01712345678;5\n"],
  ])("is detected: %s", async (_, text) => {
    const { table, rows } = await examined(fileOf(text), undefined, { method: "bkash" });
    const used = text.includes("\t") ? "\t" : text.includes(";") ? ";" : ",";
    expect([table.delimiter, rows[0]?.recipient]).toEqual([used, "01712345678"]);
  });
});

test("column names are read in any case, and are ours in an export", async () => {
  const merchant = await openMerchant();
  const file = fileOf("REF,Amount, TO ,Method,Recipientname\nA,5,01712345678,bkash,Rahim\n");
  const batch = await merchant.id(["payout", "batch", "send", file]);
  expect(await merchant.books("payouts")).toMatchObject([
    { merchantRef: "A", amount: 5, recipientName: "Rahim" },
  ]);
  const exported = await merchant.lenden(["payout", "batch", "export", batch]);
  const again = ["payout", "batch", "send", fileOf(exported.stdout, "export.csv")];
  expect(await merchant.id(again)).toBe(batch);
  expect(await merchant.books("payouts")).toHaveLength(1);
});

describe("problems of the header", () => {
  test("do not keep the cells of the columns that are understood from being checked", async () => {
    const text =
      "Amount,to,to,grade,phone no,\nx,01712345678,1712345678,5,A,\n5,01712345678,01812345678,4\n";
    const { findings, identity } = await examined(fileOf(text), ",");
    expect(places(findings)).toEqual([
      ...["1 to", "1", "2 method", "2 amount"],
      ...["3", "3 method"],
    ]);
    expect(identity).toBeUndefined();
  });

  test("name the flags that help, exactly as they are typed", async () => {
    const text = "Net pay,to,method,desc ription,it's\n5,01712345678,bkash,HR,x\n";
    const { findings } = await examined(fileOf(text), ",");
    expect(findings).toMatchObject([
      { column: "", problem: expect.stringContaining('Column "amount" is missing.') },
      {
        column: "Net pay",
        problem:
          "Unknown column. If it is the amount, add --map 'Net pay=amount'. To ignore it, add --ignore-columns 'Net pay'.",
      },
      {
        column: "desc ription",
        problem: expect.stringContaining("add --map 'desc ription=description'."),
      },
      { column: "it's", problem: expect.stringContaining(`--ignore-columns 'it'\\''s'`) },
    ]);
  });

  const exported = "payoutId,state,status,code,message,sentAt,updatedAt";

  test.each<[string, string[], [column: string, field: Field] | undefined, string]>([
    ["amount,to", [], ["x", "ref"], "--map: the file has no column"],
    ["amount,to,x", ["x"], ["x", "ref"], "both name"],
    ["amount,to", ["to"], undefined, `Column "to" is missing`],
    ["amount,to,x,name", [], ["x", "name"], 'Column 3 already has the field "name".'],
    ["amount,to,payoutId", ["payoutId"], undefined, "Send the exported file unchanged"],
    ["amount,to,state,sentAt", ["state", "sentAt"], undefined, "Send the exported file unchanged"],
    [`ref,amount,to,${exported}`, ["ref"], undefined, "it cannot be ignored"],
    ["amount,to,Ref", ["Ref"], undefined, "it cannot be ignored"],
    ["merchantRef,amount,to", [], ["merchantRef", "description"], "it cannot be ignored"],
  ])("%s is rejected if %j is ignored and %j mapped", (header, ignored, mapping, problem) => {
    const mapped = mapping ? [{ column: mapping[0], field: mapping[1] }] : [];
    const { problems } = readHeader(header.split(","), ",", { ignored, mapped });
    expect(problems.map((one) => one.problem).join(" ")).toContain(problem);
  });

  test("any header with mapped and ignored columns is read as if it had our names", () => {
    // No letters of the code of a currency, which a heading of amounts may name.
    const name = fc.stringMatching(/^[qvwz@ =]{1,6}$/).filter((text) => text.trim() === text);
    const header = fc.record({
      own: fc.shuffledSubarray([...fields]),
      others: fc.uniqueArray(name, { maxLength: 6, selector: (one) => one.replaceAll(/ +/g, " ") }),
    });
    fc.assert(
      fc.property(header, fc.nat(), ({ own, others }, seed) => {
        const kept = new Set<string>(fields);
        const renamed = own.filter(
          (_, index) =>
            (seed >> index) % 2 === 1 && others[index] && !kept.has(others[index] ?? ""),
        );
        const nameOf = (field: string, index: number) =>
          renamed.includes(own[index] ?? "ref") ? (others[index] ?? field) : field;
        const named = own.map(nameOf);
        const extra = others.filter((one) => !named.includes(one) && !kept.has(one));
        const mapped = own.flatMap((field, index) =>
          renamed.includes(field) ? [{ column: named[index] ?? "", field }] : [],
        );
        const read = readHeader([...named, ...extra], ",", { ignored: extra, mapped });
        expect(read.columns).toEqual(own);
        expect(read.places).toEqual(own.map((_, index) => index));
        const missing = ["amount", "to"].filter((one) => !own.some((field) => field === one));
        if (read.isHeader) expect(read.problems).toHaveLength(missing.length);
      }),
    );
  });
});

/** A file whose rows are sent only with both flags, in a ledger of its own. */
async function hrFile() {
  const merchant = await openMerchant();
  const folder = scratchFolder();
  const write = (text: string, name = "hr.csv") => {
    writeFileSync(`${folder}/${name}`, text);
    return `${folder}/${name}`;
  };
  const file = write("amount;to;dept;grade\n5;01712345678;Sales;7\n6;01812345678;HR;8\n");
  const flags = [ignore, "grade", map, "dept=description", "--method", "bkash"];
  const batch = (verb: string, ...more: string[]) =>
    merchant.lenden(["payout", "batch", verb, file, ...more]);
  return { merchant, file, flags, batch, write };
}

describe("ignored and mapped columns", () => {
  test("are checked and sent with the flags", async () => {
    const { merchant, flags, batch } = await hrFile();
    expect(await batch("check", ...flags)).toMatchObject({ code: 0 });
    expect(await batch("send", ...flags)).toMatchObject({ code: 0 });
    const sent = await merchant.books("payouts");
    expect(sent.map(({ description }) => description)).toEqual(["Sales", "HR"]);
  });

  test("are not in an export, or have our names, so that it is read without the flags", async () => {
    const { merchant, flags, batch, write } = await hrFile();
    await batch("send", ...flags);
    const { stdout } = await batch("export");
    expect(stdout).toMatch(
      /^amount,to,description,ref,payoutId,.*,existing\r\n5,"01712345678",Sales,/,
    );
    const earlier = stdout.replaceAll(/,(?:existing|no)\r$/gm, ""); // of a version without the last column
    for (const text of [stdout, earlier]) {
      const path = write(text, "export.csv");
      const line = ["payout", "batch", "send", path, "--method", "bkash"];
      expect(await merchant.lenden(line)).toMatchObject({ code: 0 });
    }
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("are those of the plan when the file is sent again, whatever the flags", async () => {
    const { merchant, flags, batch } = await hrFile();
    await batch("send", ...flags);
    for (const same of [[], flags, ["--method", "bkash"]])
      for (const verb of ["check", "send"]) {
        const { code, stderr } = await batch(verb, ...same);
        expect([code, stderr]).toEqual([0, expect.stringMatching(/left to send/)]);
      }
    for (const [verb, ...more] of [["check"], ["send"], ["send", "--dry-run"]] as const) {
      for (const flags of [
        [ignore, "grade,dept"],
        ["--delimiter", "tab"],
      ]) {
        const other = await batch(verb, ...flags, ...more);
        expect([other.code, other.stderr]).toEqual([
          2,
          expect.stringContaining("the rows differ from those of batch"),
        ]);
      }
    }
    for (const verb of ["status", "export"]) expect(await batch(verb)).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test.each([["dept"], ["=description"], ["dept=salary"]])("--map %s is rejected", async (text) => {
    const { batch } = await hrFile();
    const { code, stderr } = await batch("check", map, text);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Example: dept=description.")]);
  });
});
