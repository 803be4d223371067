import { numberFormats } from "../../../domain/mobile.ts";
import { type Page, rows, text } from "../page.ts";

export const page: Page = [
  text("How amounts, mobile numbers, account numbers and references are written."),
  {
    kind: "examples",
    examples: [
      {
        line: "lenden payout send --amount 1250.50 --to 01712345678 --method bkash --dry-run",
        says: "shows the request, and sends nothing",
      },
    ],
  },
  text(
    "Digits and at most two decimals: 500, 1250.5, 1250.50. Above zero, below 1000000000000. No separators, no symbol, no other digits: 1,250, ৳500, ১২৫০ and 1e3 are refused, with the reading that was probably meant. What you typed is never mended in silence, and never rounded.",
    "Amounts, in taka",
  ),
  text(
    `01XXXXXXXXX, +8801XXXXXXXXX or 8801XXXXXXXXX, with spaces or hyphens if you like. They are sent as 01XXXXXXXXX; the profile's setting number-format (${numberFormats.join(", ")}) changes that. Ten digits that begin with 1 have lost their zero in a spreadsheet, and are refused.`,
    "Mobile numbers",
  ),
  text(
    "The account of a refund is sent as you type it. Spaces inside it are refused.",
    "Account numbers",
  ),
  text(
    "1 to 64 letters, digits, hyphens and underscores: INV-2026-042. Never a colon, for it separates the parts of what is signed.",
    "References",
  ),
  rows("Exit codes", [["2", "something cannot be read; all such problems are named at once"]]),
];
