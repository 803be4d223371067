import { type Page, rows, text } from "../page.ts";

export const page: Page = [
  text("How durations and times are written."),
  {
    kind: "examples",
    examples: [
      { line: 'lenden payout list --since "2h ago"', says: "of the last two hours" },
      {
        line: "lenden payout list --since 2026-11-01 --until 2026-11-30T18:00",
        says: "from a day on, to a moment",
      },
      { line: "lenden methods --timeout 20s", says: "within 20 seconds, or exit 69" },
    ],
  },
  rows("Durations (--timeout, --wait-timeout, --interval, --auto-complete)", [
    ["500ms", "milliseconds"],
    ["30s", "seconds"],
    ["10m", "minutes"],
    ["2h", "hours"],
  ]),
  rows("Times (--since, --until)", [
    ["today, yesterday", "Since midnight, in the zone of this machine"],
    ["2h ago, 30m ago, 3d ago", "Hours, minutes, days before now"],
    ["2026-11-20", "The beginning of that day, in the zone of this machine"],
    ["2026-11-20T10:30", "That moment, in the zone of this machine"],
    ["2026-11-20T10:30:00Z", "That moment, in UTC; +06:00 instead of Z is Dhaka's"],
  ]),
  text(
    "Tables and cards show times in the zone of this machine. JSON and CSV have them as the service gave them, in UTC.",
  ),
];
