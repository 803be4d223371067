import { writeFileSync } from "node:fs";
import { readText } from "../../../cli/command/common-flags.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { argument, flag } from "../../../cli/command/flag.ts";
import { guarded } from "../../../domain/csv-guard.ts";
import { errorCode, systemReason } from "../../../domain/error-code.ts";
import { usage } from "../../../domain/failure.ts";
import { ok } from "../../../domain/result.ts";
import { shellLine } from "../../../domain/text.ts";

export const batchTemplate = defineCommand({
  description: "Writes a header and three sample rows.",
  examples: { "Create a file": "lenden payout batch template payroll.csv" },
  arguments: {
    file: argument.optional("file", "New file (default: standard output)", ok<string>, "file"),
  },
  flags: {
    method: flag.optional(
      "--method <method>",
      "Method of the sample rows (default: bkash)",
      readText,
      "method",
    ),
  },
  async run({ file, method = "bkash" }) {
    const text = examples(method);
    if (file === undefined) return { file: null, text };
    try {
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      const code = errorCode(error);
      const exists = `The file ${file} already exists.`;
      const problem = code === "EEXIST" ? exists : `Cannot write ${file}: ${systemReason(error)}.`;
      throw usage(
        [problem],
        code === "EEXIST"
          ? "Use another file name."
          : "Use a directory that exists and that you can write.",
      );
    }
    // After "--" no name is a flag.
    const end = file.startsWith("-") ? ["--"] : [];
    const check = shellLine(["lenden", "payout", "batch", "check", ...end, file]);
    return { file, text: `Created ${file}. Fill it in, then run: ${check}` };
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
