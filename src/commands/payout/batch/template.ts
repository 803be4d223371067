import { writeFileSync } from "node:fs";
import { readWord } from "../../../cli/command/common-flags.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { argument, flag } from "../../../cli/command/flag.ts";
import { shellLine } from "../../../cli/output/shell-line.ts";
import { guarded } from "../../../domain/csv-guard.ts";
import { errorCode } from "../../../domain/error-code.ts";
import { usage } from "../../../domain/failure.ts";
import { ok } from "../../../domain/result.ts";

export const batchTemplate = defineCommand({
  description:
    "A header and three examples. The columns amount and to are required. Without ref, references are created from the rows. Without method, --method sets it for all rows.",
  examples: [
    { comment: "A new file", command: "lenden payout batch template payroll.csv" },
    {
      comment: "With the method filled in",
      command: "lenden payout batch template payroll.csv --method bkash",
    },
    { comment: "On standard output", command: "lenden payout batch template" },
  ],
  arguments: {
    file: argument.optional("file", "File to create; it must not exist", ok<string>, "file"),
  },
  flags: {
    method: flag.optional(
      "--method <id|code|name>",
      "The method of the examples",
      readWord,
      "method",
    ),
  },
  async run({ file, method = "bkash" }) {
    const text = examples(method);
    if (file === undefined) return { file: null, text };
    try {
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      const code = errorCode(error) ?? "unknown";
      throw usage(
        [code === "EEXIST" ? `The file ${file} exists.` : `${file} cannot be written (${code}).`],
        "Choose another file name. Nothing was changed.",
      );
    }
    // After "--" no name is a flag.
    const end = file.startsWith("-") ? ["--"] : [];
    const check = shellLine(["lenden", "payout", "batch", "check", ...end, file]);
    return { file, text: `${file} is written. Fill it, then run: ${check}` };
  },
  view: ({ text }) => ({ kind: "raw", text: text.trimEnd() }),
});

function examples(method: string): string {
  const safe = guarded(method);
  const cell = /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  return [
    "ref,amount,to,method,name,description",
    `SAL-2026-11-001,18500,01712345678,${cell},Rahima Begum,Salary November`,
    `SAL-2026-11-002,21250.50,01812345678,${cell},Karim Uddin,Salary November`,
    `SAL-2026-11-003,950,01912345678,${cell},"Das, Mina",Travel`,
    "",
  ].join("\n");
}
