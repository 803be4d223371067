import { callbackFaultKinds, faultKinds } from "../../api/contract/fault.ts";
import { fields } from "../../batches/header.ts";
import { exits } from "../../domain/failure.ts";
import { numberFormats } from "../../domain/mobile.ts";
import { endpointNames } from "../../domain/statuses.ts";
import { globalFlags } from "../args/globals.ts";
import { outputFormats } from "../output/render.ts";
import { flagRow, type Row, type Section } from "./page.ts";
import type { TopicName } from "./topics.ts";

const account: Row[] = [
  ["LENDEN_PROFILE", "Profile to use"],
  ["LENDEN_API_KEY", "API key"],
  ["LENDEN_PAYOUT_SECRET", "Payout secret"],
  ["LENDEN_CALLBACK_SECRET", "Secret that signs forwarded callbacks"],
  ["LENDEN_BASE_URL", "URL of the API"],
  ["LENDEN_ACCOUNT", "Account that the ledger records operations under"],
  ["LENDEN_LEDGER_URL", "Ledger on PostgreSQL, for example postgres://ann@db.example/lenden"],
  ["LENDEN_LEDGER_PASSWORD", "Password of the ledger"],
];

const behavior: Row[] = [
  ["LENDEN_OUTPUT", "Output format"],
  ["LENDEN_NO_INPUT, CI", "Set to any value: never prompt"],
  ["LENDEN_DEBUG", "Set to 1: print stack traces"],
  ["NO_COLOR", "Set to any value: no color"],
  ["FORCE_COLOR", "Always use color, except if 0 or false"],
  ["TERM", "Set to dumb: no color, no prompts"],
  ["DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME", "On Linux, --open needs one of them"],
];

const directories: Row[] = [
  ["LENDEN_CONFIG_DIR", "Profiles, an absolute path (default: ~/.config/lenden)"],
  ["LENDEN_DATA_DIR", "Ledger, an absolute path (default: ~/.local/share/lenden)"],
  ["XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME", "Replace ~/.config, ~/.local/share, ~/.cache"],
  ["BASH_COMPLETION_USER_DIR", "Bash completions"],
  ["APPDATA, LOCALAPPDATA", "Parents of both directories on Windows"],
];

const network: Row[] = [
  ["HTTPS_PROXY, HTTP_PROXY", "Proxy to use, except for this machine"],
  ["NO_PROXY", "Hosts to connect to without the proxy"],
  ["NODE_EXTRA_CA_CERTS", "Extra CA certificates file (PEM)"],
  ["NODE_TLS_REJECT_UNAUTHORIZED", "Ignored: certificates are always verified"],
];

const columns: Record<(typeof fields)[number], string> = {
  ref: "Your reference (default: generated from the row)",
  amount: "BDT, for example 1250.50 (required)",
  to: "Recipient's mobile number (required)",
  method: "Payment method (required unless set with --method or in the profile)",
  name: "Recipient's name",
  description: "Description of the payout",
};

/** The text of each topic. */
export const topicPages: Record<TopicName, Section[]> = {
  flags: [
    { text: "Flags can be before or after the command. No flag takes a secret." },
    {
      title: "Examples",
      examples: {
        "Print JSON": "lenden methods --json",
        "Print IDs only, within 20 seconds": "lenden --timeout 20s methods -q",
      },
    },
    { title: "Flags", rows: Object.values(globalFlags).map(flagRow) },
    {
      text: "Precedence: flag, environment variable, profile, default. LENDEN_API_KEY with LENDEN_BASE_URL need no profile: if both are set, no profile is used. 'lenden profile show' shows each value and its source.",
    },
    { title: "Environment variables: account", rows: account },
    { title: "Environment variables: behavior", rows: behavior },
    { title: "Environment variables: directories", rows: directories },
    { title: "Environment variables: network", rows: network },
  ],
  "exit-codes": [
    {
      title: "Examples",
      examples: {
        "Print the exit code if it is not 0": 'lenden pay get TX8F3K2Q -q || echo "exit code: $?"',
      },
    },
    { title: "Codes", rows: [["0", "Done"], ...codes()] },
    {
      text: "With --json, an error is one line of JSON on stderr. Its kind is the word in parentheses.",
    },
  ],
  "money-safety": [
    {
      text: "Running the same command twice does not pay twice, on these conditions.",
    },
    {
      title: "Examples",
      examples: {
        "Retry after exit 75 with the same --ref":
          "lenden payout send --amount 500 --to 01712345678 --method bkash --ref INV-7",
        "Resolve operations whose outcome is unknown": "lenden ledger resolve",
      },
    },
    {
      title: "The same command again",
      rows: [
        [
          "payout send --ref <reference>",
          "The existing payout is shown. The API creates one payout per reference.",
        ],
        [
          "payout send",
          "Rejected (exit 3) for 24 hours if amount and recipient are the same, and longer while the outcome is unknown.",
        ],
        [
          "pay create",
          "Rejected (exit 3) for ten minutes while the same payment is Processing, and longer while its outcome is unknown.",
        ],
        ["refund create", "Rejected (exit 3) unless the same refund was rejected or cancelled."],
        ["payout batch send", "The batch resumes. Accepted rows are not sent again."],
      ],
    },
    {
      text: "--again sends a second one, and a new --ref is a new payout. lenden checks duplicates in the ledger of this machine, or in one on PostgreSQL that machines share. lenden cannot know what others sent.",
    },
    {
      title: "Ledger",
      text: "Every operation is recorded in the ledger before its request is sent. If the ledger cannot be written, nothing is sent.",
    },
    {
      title: "States in the ledger",
      rows: [
        ["INTENT, UNCERTAIN", "Outcome unknown: being sent, or without a valid response"],
        ["CONFIRMED", "Accepted by the API; its status is shown"],
        ["REFUSED, NOT_SENT", "Rejected by the API; proved not to have been sent"],
        ["CONFLICT", "The API has a different record under this reference or ID"],
      ],
    },
    {
      title: "Outcome unknown",
      text: "Without a valid response, money may have moved (exit 75). Retry a payout with the same --ref, for up to 24 hours. After that, and for a payment or a refund, which have no reference, check the dashboard. Record what you found with 'lenden ledger resolve'.",
    },
    {
      title: "Accepted and paid",
      text: '"Accepted" means that the API confirmed the request. "Paid" means that a status check returned Completed. A redirect or a callback alone proves nothing.',
    },
  ],
  formats: [
    {
      title: "Examples",
      examples: {
        "Print the request without sending it":
          "lenden payout send --amount 1250.50 --to 01712345678 --method bkash --dry-run",
        "List the payouts of the last two hours": 'lenden payout list --since "2h ago"',
        "Show the newest payment": "lenden pay get @last",
      },
    },
    {
      title: "Amounts",
      text: "BDT (taka) with at most two decimals: 500, 1250.50. Separators, symbols and non-Latin digits are rejected: 1,250, ৳500, ১২৫০, 1e3. Amounts are never rounded.",
    },
    {
      title: "Mobile numbers",
      text: `01XXXXXXXXX, +8801XXXXXXXXX or 8801XXXXXXXXX, also with spaces or hyphens. They are sent as 01XXXXXXXXX. The setting number-format of the profile changes that (${numberFormats.join(", ")}). A refund's account number is sent as typed.`,
    },
    {
      title: "References",
      text: "1 to 64 letters, digits, hyphens and underscores: INV-2026-042.",
    },
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
      text: "Days and times are those of the setting time-zone of the profile (default: Asia/Dhaka). Lists show it too, all else local time.",
      rows: [
        ["500ms, 30s, 10m, 2h", "Durations"],
        ["today, yesterday, 2026-11-20", "Whole days: --until includes the day"],
        ["2h ago, 30m ago, 3d ago", "Before now"],
        ["2026-11-20T10:30", "A moment; add Z for UTC, +06:00 for Dhaka"],
      ],
    },
    {
      title: "Output",
      text: `Formats: ${outputFormats.join(", ")}. Results are on stdout, all else on stderr. 'lenden help json' describes JSON. CSV cells that begin with =, +, - or @ get a ' before them.`,
    },
  ],
  batch: [
    {
      title: "Examples",
      examples: {
        "Create a sample file": "lenden payout batch template payroll.csv",
        "Send or resume the payouts": "lenden payout batch send payroll.csv",
      },
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
      text: "'lenden payout batch export payroll.csv --only failed' prints rejected and cancelled rows with new references, to fix and send.",
    },
  ],
  faults: [
    {
      title: "Examples",
      examples: {
        "Delay each response by 200 milliseconds":
          "lenden sandbox exec --fault listMethods:latency-200 -- lenden methods",
        "Lose three in ten payout responses, the same ones in each run":
          "lenden sandbox exec --fault createPayout:lost-reply:0.3 --seed 1 -- npm test",
      },
    },
    {
      text: "--fault takes <endpoint>:<kind>[:<rate>]. The rate is the probability of the fault, from 0 to 1 (default: 1).",
    },
    {
      title: "Kinds",
      rows: Object.entries(faultKinds).map(([kind, { effect }]): Row => [kind, effect]),
    },
    { title: "Endpoints", text: `${endpointNames.join(", ")}, or * for all of them.` },
    {
      title: "Callback faults",
      text: "--callback-fault takes <kind>[:<rate>]. The first matching rule applies.",
    },
    {
      title: "Kinds of callback faults",
      rows: Object.entries(callbackFaultKinds).map((row): Row => row),
    },
    {
      title: "Test numbers of recipients, payers and refunds",
      rows: [
        ["01955500001", "rejected; nothing is created"],
        ["01955500002", "created; the response takes five seconds"],
        ["01955500003", "created, then Cancelled"],
      ],
    },
  ],
};

function codes(): Row[] {
  return Object.entries(exits)
    .sort(([, one], [, other]) => one.code - other.code)
    .map(([kind, { code, means, retry }]) => {
      const meaning = means.charAt(0).toUpperCase() + means.slice(1);
      return [String(code), `${meaning} (${kind}). Retry: ${retry}.`];
    });
}
