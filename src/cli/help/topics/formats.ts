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
    text: "BDT (taka) with at most two decimals: 500, 1250.50. Separators, symbols and other digits are rejected: 1,250, ৳500, ১২৫০, 1e3. Amounts are never rounded.",
  },
  {
    title: "Mobile numbers",
    text: `01XXXXXXXXX, +8801XXXXXXXXX or 8801XXXXXXXXX, also with spaces or hyphens. They are sent as 01XXXXXXXXX. The setting number-format of the profile changes that (${numberFormats.join(", ")}). A refund's account number is sent as typed.`,
  },
  { title: "References", text: "1 to 64 letters, digits, hyphens and underscores: INV-2026-042." },
  {
    title: "IDs",
    rows: [
      ["<transaction-id>", "Payment"],
      ["<payout-id>", "Payout"],
      ["<refund-request-id>", "Refund"],
      ["<operation>", "Entry of the ledger: OP… or a payout's reference"],
      ["<batch>", "Batch: B…, its name or its file"],
      ["@last, @2, @3 …", "The newest of its kind in the ledger, the one before it …"],
    ],
  },
  {
    title: "Durations and times",
    rows: [
      ["500ms, 30s, 10m, 2h", "Durations"],
      ["today, yesterday", "Since midnight, local time"],
      ["2h ago, 30m ago, 3d ago", "Before now"],
      ["2026-11-20", "Start of that day, local time"],
      ["2026-11-20T10:30", "Local time; add Z for UTC, +06:00 for Dhaka"],
    ],
  },
  {
    title: "Output",
    text: `Formats: ${outputFormats.join(", ")}. Results are on stdout, all else on stderr. 'lenden help json' describes JSON. CSV cells that begin with =, +, - or @ get a ' before them.`,
  },
];
