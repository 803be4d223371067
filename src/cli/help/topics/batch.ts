import { fields } from "../../../batches/header.ts";
import type { Row, Section } from "../page.ts";

const columns: Record<(typeof fields)[number], string> = {
  ref: "Reference of the payout (default: made from the rows)",
  amount: "BDT, for example 1250.50 (required)",
  to: "Recipient's mobile number (required)",
  method: "Payment method; --method sets it for rows without one",
  name: "Recipient's name",
  description: "Description of the payout",
};

export const sections = (): Section[] => [
  {
    title: "Examples",
    examples: [
      { comment: "Print a header and three examples", command: "lenden payout batch template" },
      {
        comment: "Validate a file; nothing is sent",
        command: "lenden payout batch check payroll.csv",
      },
      { comment: "Send each row once", command: "lenden payout batch send payroll.csv" },
      { comment: "Show the progress", command: "lenden payout batch status payroll.csv" },
    ],
  },
  { title: "Columns", rows: fields.map((field): Row => [field, columns[field]]) },
  {
    title: "File",
    text: "CSV in UTF-8 with a header. --delimiter sets another delimiter. In a spreadsheet, format the columns amount and to as text, then save as 'CSV UTF-8': otherwise 01712345678 loses its zero.",
  },
  {
    title: "Validation",
    text: "If one row is invalid, nothing is sent. A row that repeats a payout is a problem too, unless you add --allow-duplicates: the same amount to the same recipient in the file, within 24 hours, with an unknown outcome, or in an unfinished batch. In production, payouts of your other accounts count too. A payout that another account left rejected or unknown is always a problem. lenden checks again when the batch is created and when it resumes.",
  },
  {
    title: "Sending",
    text: "First the whole file is copied into the ledger; then only this copy counts. A rejected row does not stop the others. After Ctrl-C or a power failure, run the same command again: the batch resumes with the rows of unknown outcome, and rows that were accepted are not sent again.",
  },
  {
    title: "The same file again",
    text: "A batch is identified by its rows and by --name. The same rows are the same batch, whatever the file name, line endings, number format or order. To send them again next month, set another --name, and new references if the file has a column ref. Other rows under the name of an unfinished batch are rejected. 'lenden payout batch cancel' cancels the rows that were not sent.",
  },
  {
    title: "Failed rows",
    text: "'export --only failed' writes a file to send again after you fix it: rejected and cancelled rows get a new reference, rows with an unknown outcome keep theirs. lenden reads its own exports, also after a spreadsheet saved them: it removes the ' before =, +, - or @, and ignores the result columns. A recipient who was paid the same amount by another row needs --allow-duplicates there too.",
  },
];
