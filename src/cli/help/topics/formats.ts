import { numberFormats } from "../../../domain/mobile.ts";
import { outputFormats } from "../../output/render.ts";
import type { Section } from "../page.ts";

export const sections = (): Section[] => [
  {
    title: "Examples",
    examples: [
      {
        comment: "Print the request without sending it",
        command: "lenden payout send --amount 1250.50 --to 01712345678 --method bkash --dry-run",
      },
      { comment: "List the payouts of two hours", command: 'lenden payout list --since "2h ago"' },
      { comment: "Show the newest payment", command: "lenden pay get @last" },
    ],
  },
  {
    title: "Amounts",
    text: "BDT with at most two decimals, such as 500 or 1250.50: above 0 and below 1000000000000. Separators, symbols and other digits (1,250, ৳500, ১২৫০, 1e3) are rejected. Amounts are never rounded.",
  },
  {
    title: "Mobile numbers",
    text: `01XXXXXXXXX, +8801XXXXXXXXX or 8801XXXXXXXXX, also with spaces or hyphens. They are sent as 01XXXXXXXXX unless the profile sets number-format (${numberFormats.join(", ")}). The account number of a refund is sent as typed.`,
  },
  { title: "References", text: "1 to 64 letters, digits, hyphens and underscores: INV-2026-042." },
  {
    title: "IDs",
    rows: [
      ["<transaction-id>", "Payment, created by the API"],
      ["<payout-id>", "Payout, created by the API"],
      ["<refund-request-id>", "Refund, created by the API"],
      ["OP…", "Operation of the ledger; a payout's reference works too"],
      ["B…", "Batch; its name and its file work too"],
      ["@last, @2, @3 …", "Newest of its kind in the account's ledger, the one before it …"],
    ],
  },
  {
    title: "Durations and times",
    rows: [
      ["500ms, 30s, 10m, 2h", "Durations: --timeout, --wait-timeout, --interval"],
      ["today, yesterday", "Since midnight in the local time zone"],
      ["2h ago, 30m ago, 3d ago", "Before now"],
      ["2026-11-20", "Start of that day in the local time zone"],
      ["2026-11-20T10:30", "Local time; with Z it is UTC, with +06:00 Dhaka time"],
    ],
  },
  {
    title: "Output",
    text: `--output is one of ${outputFormats.join(", ")}. JSON has the fields of the API and those that lenden adds, and does not depend on the terminal. CSV cells that begin with =, +, - or @ get a ' before them. Results are on stdout, everything else on stderr. Keys and secrets are masked.`,
  },
];
