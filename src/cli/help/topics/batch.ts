import { fields } from "../../../batches/header.ts";
import { type Page, type Row, rows, text } from "../page.ts";

const columns: Record<(typeof fields)[number], string> = {
  ref: "The payout's reference; made from the rows if there is no such column",
  amount: "In taka, for example 1250.50 (needed)",
  to: "The recipient's mobile number (needed)",
  method: "The method; --method names it for all rows that name none",
  name: "The recipient's name",
  description: "What it is for",
};

export const page: Page = [
  text("The file of payouts, and how it is paid."),
  {
    kind: "examples",
    examples: [
      { line: "lenden payout batch template", says: "a header and three examples" },
      { line: "lenden payout batch check payroll.csv", says: "what is wrong; nothing is sent" },
      { line: "lenden payout batch send payroll.csv", says: "pays each row once" },
      { line: "lenden payout batch status payroll.csv", says: "where the rows stand" },
    ],
  },
  rows(
    "Columns",
    fields.map((field): Row => [field, columns[field]]),
  ),
  text(
    "CSV in UTF-8, with a header; --delimiter says so where semicolons or tabs stand between the cells. Save it from a spreadsheet as 'CSV UTF-8', with the columns amount and to as text: else a spreadsheet takes the zero from 01712345678.",
    "The file",
  ),
  text(
    "One bad row means that nothing is sent. A row that repeats a payout is a problem too, until you add --allow-duplicates: the same amount to the same recipient in the file, within 24 hours, with an unknown outcome, or in a batch that is still to send it. In production, payouts of your other accounts count too. A payout that another account left rejected or unknown is always a problem. lenden checks again when the plan is made, and when a batch resumes.",
    "Checking",
  ),
  text(
    "First the whole file becomes a plan in the ledger; then only the plan counts. A rejected row does not stop the others. After Ctrl-C or a power cut, run the same command again: the batch resumes, unknown rows first, and rows that were accepted are not sent again.",
    "Sending",
  ),
  text(
    "A batch is known by its rows and by --name. The same rows are the same batch, whatever the file's name, line ends, number format or order. To send them again in another month, give the batch a new name with --name, and its rows new references if the file has a column ref. Other rows under the name of an unfinished batch are rejected, with the rows that differ. 'lenden payout batch cancel' gives up the rows that were not sent.",
    "The same file again",
  ),
  text(
    "lenden reads what 'export' wrote, also after a spreadsheet saved it: it removes the ' before a cell that begins with =, +, - or @, and ignores the result columns. 'export --only failed' writes a file to send again after mending: refused and cancelled rows get a new reference, rows in doubt keep their own. Who was paid the same amount by another row of the file needs --allow-duplicates there too.",
    "What is left",
  ),
];
