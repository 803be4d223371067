import { fields } from "../../../batches/header.ts";
import type { Row, Section } from "../page.ts";

const columns: Record<(typeof fields)[number], string> = {
  ref: "Your reference (default: generated from the row)",
  amount: "BDT, for example 1250.50 (required)",
  to: "Recipient's mobile number (required)",
  method: "Payment method (required unless set with --method or in the profile)",
  name: "Recipient's name",
  description: "Description of the payout",
};

export const sections = (): Section[] => [
  {
    title: "Examples",
    examples: [
      { comment: "Create a sample file", command: "lenden payout batch template payroll.csv" },
      {
        comment: "Validate a file; nothing is sent",
        command: "lenden payout batch check payroll.csv",
      },
      { comment: "Send or resume the payouts", command: "lenden payout batch send payroll.csv" },
      { comment: "Show progress", command: "lenden payout batch status payroll.csv" },
    ],
  },
  { title: "Columns", rows: fields.map((field): Row => [field, columns[field]]) },
  {
    title: "File",
    text: "CSV in UTF-8 with a header. In a spreadsheet, format the columns amount and to as text and save as 'CSV UTF-8'. Otherwise 01712345678 loses its zero.",
  },
  {
    title: "Validation",
    text: "If one row is invalid, nothing is sent. A duplicate needs --allow-duplicates: the same amount to the same recipient in the file, within 24 hours, with an unknown outcome, or in another open batch.",
  },
  {
    title: "Resume",
    text: "After Ctrl-C or a crash, run the same command again. The same rows and --name are the same batch, whatever the file name, order or number format.",
  },
  {
    title: "Next month",
    text: "To send the same rows again, set another --name. If the file has a column ref, set new references too.",
  },
  {
    title: "Failed rows",
    text: "'lenden payout batch export payroll.csv --only failed' writes a file to fix and send. Rejected and cancelled rows get a new reference. Rows with an unknown outcome keep theirs.",
  },
];
