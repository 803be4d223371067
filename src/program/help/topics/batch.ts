import { fields } from "../../../batches/header.ts";
import { type Page, type Row, rows, text } from "../page.ts";

const columns: Record<(typeof fields)[number], string> = {
  ref: "The payout's reference; made from the file, if the column is left out",
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
    "One bad row means that nothing is sent. Somebody who would get the same amount twice, in the file, within 24 hours or by another batch that is still open, is a problem too, until --allow-duplicates says that it is meant. What another API key did from this machine counts too: who was paid, and which rows it sent; those that it left refused or in doubt do not pass. The same is looked at again when the plan is made, and when a batch goes on.",
    "Checking",
  ),
  text(
    "First the whole file becomes a plan in the ledger; after that it is not read again. A refused row does not stop the others. After Ctrl-C or a power cut run the same command again: it goes on where it was, rows in doubt first. No row is paid twice: to pay the same again, as in another month, give the rows new references in the column ref. A file of the same name that was changed since is refused, with the rows that differ; one that was only saved anew under its name goes on.",
    "Sending",
  ),
  text(
    "lenden reads what 'export' wrote, also after a spreadsheet saved it: it removes the ' before a cell that begins with =, +, - or @, and ignores the result columns. 'export --only failed' writes a file to send again after mending: refused and cancelled rows get a new reference, rows in doubt keep their own. Who was paid the same amount by another row of the file needs --allow-duplicates there too.",
    "What is left",
  ),
];
