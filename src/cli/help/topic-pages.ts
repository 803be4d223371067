import { callbackFaultKinds, faultKinds } from "../../api/contract/fault.ts";
import type { fields } from "../../batches/fields.ts";
import { exits } from "../../domain/failure.ts";
import { numberFormats } from "../../domain/mobile.ts";
import { endpointNames } from "../../domain/statuses.ts";
import { globalFlags } from "../args/globals.ts";
import { flagRow } from "../command/flag.ts";
import { outputFormats } from "../output/render.ts";
import type { TopicName } from "./topics.ts";

const account = {
  LENDEN_PROFILE: "Profile to use",
  LENDEN_API_KEY: "API key",
  LENDEN_PAYOUT_SECRET: "Payout secret",
  LENDEN_CALLBACK_SECRET: "Secret that signs forwarded callbacks",
  LENDEN_BASE_URL: "URL of the API",
  LENDEN_ACCOUNT: "Name of the account in the ledger",
  LENDEN_LEDGER_URL: "Ledger on PostgreSQL: postgres://ann@db.example/lenden",
  LENDEN_LEDGER_PASSWORD: "Password of the PostgreSQL login",
};

const behavior = {
  LENDEN_OUTPUT: "Output format, as for --output",
  "LENDEN_NO_INPUT, CI": "Any value but false or 0: never prompt",
  LENDEN_ACTOR: "person, script or agent; only restricts (docs/agents.md)",
  LENDEN_DEBUG: "1: print stack traces",
  "LENDEN_TORTURE_DIR, LENDEN_TORTURE_ROUND": "Set by 'lenden sandbox torture'",
  NO_COLOR: "Any value: no color",
  FORCE_COLOR: "Use color, except if 0 or false",
  TERM: "dumb: no color, no prompts",
  "DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME": "On Linux, --open needs one of them",
};

const directories = {
  LENDEN_CONFIG_DIR: "Profiles (default: ~/.config/lenden)",
  LENDEN_DATA_DIR: "Ledger (default: ~/.local/share/lenden)",
  LENDEN_STATE_DIR: "Ledger's position, if LENDEN_CONFIG_DIR cannot be written",
  "XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME": "Replace ~/.config, ~/.local/share, ~/.cache",
  BASH_COMPLETION_USER_DIR: "Directory of bash completions",
  "APPDATA, LOCALAPPDATA": "On Windows, both directories are below these",
};

const network = {
  "HTTPS_PROXY, HTTP_PROXY": "Proxy for requests to other machines",
  NO_PROXY: "Hosts that need no proxy",
  NODE_EXTRA_CA_CERTS: "File of extra CA certificates",
  RES_OPTIONS: "How names are looked up; if unset, within --timeout",
  NODE_TLS_REJECT_UNAUTHORIZED: "Ignored: certificates are always verified",
};

const columns: Record<(typeof fields)[number], string> = {
  ref: "Your reference (default: generated from the row)",
  amount: "BDT, for example 1250.50 (required)",
  to: "Recipient's mobile number (required)",
  method: "Payment method (required unless set with --method or in the profile)",
  name: "Recipient's name",
  description: "Description of the payout",
};

/** The sections of each topic by their titles: a text, or terms and what they mean. */
export const topicPages: Record<TopicName, Record<string, string | Record<string, string>>> = {
  flags: {
    "": "These flags go before or after the command. No flag takes a secret.",
    Examples: {
      "Print IDs only, within 20 seconds": "lenden --timeout 20s methods -q",
    },
    Flags: Object.fromEntries(Object.values(globalFlags).map(flagRow)),
    Precedence:
      "A flag overrides an environment variable, which overrides the profile. With LENDEN_API_KEY and LENDEN_BASE_URL, no profile is used. 'lenden profile show' shows where each value comes from.",
    "Environment variables: account": account,
    "Environment variables: behavior": behavior,
    "Environment variables: directories": directories,
    "Environment variables: network": network,
  },
  "exit-codes": {
    Codes: { 0: "Done", ...codes() },
    JSON: "With --json, an error is one line of JSON on stderr, with the word in parentheses as its kind.",
  },
  "money-safety": {
    "": "Running the same command twice does not pay twice, under the conditions below.",
    Examples: {
      "Resolve operations whose outcome is unknown": "lenden ledger resolve",
    },
    "The same command again": {
      "payout send --ref <reference>": "Shows the existing payout.",
      "payout send":
        "Rejected (exit 3) for 24 hours if amount and recipient are equal; longer while the outcome is unknown. If the API rejected the first one, it is sent again with the same reference.",
      "pay create":
        "Rejected (exit 3) for ten minutes while a payment of the same amount, description, method and payer is Processing; longer while its outcome is unknown. For 24 hours after the same payer paid it; without --payer, a warning.",
      "refund create":
        "Rejected (exit 3) if payment and amount are equal, whatever the account number, unless the earlier refund was cancelled, or was rejected by the API more than ten minutes ago.",
      "payout batch send": "The batch resumes without the accepted rows.",
    },
    Duplicates:
      "--again sends a second one, and a new --ref is a new payout. lenden finds duplicates only in the ledger of this machine, or in one shared on PostgreSQL.",
    Ledger:
      "Every operation is recorded before its request is sent. If the ledger cannot be written, nothing is sent.",
    "States in the ledger": {
      INTENT: "Outcome unknown: recorded, and perhaps sent",
      UNCERTAIN: "Outcome unknown: sent, without a valid response",
      CONFIRMED: "Accepted by the API; its status is shown",
      REFUSED: "Rejected by the API",
      NOT_SENT: "Not sent, or recorded as not created",
      CONFLICT: "The API has a different record, or other values in its record",
    },
    "Outcome unknown":
      "Without a valid response, money may have moved (exit 75). Retry a payout with the same --ref within 24 hours. Later, and for payments and refunds, check the merchant dashboard, then run 'lenden ledger resolve'.",
    "Accepted and paid":
      '"Accepted": the API confirmed the request. "Paid": a status check returned Completed. A redirect or a callback alone proves nothing.',
  },
  formats: {
    Examples: {
      "List the payouts of the last two hours": 'lenden payout list --since "2h ago"',
      "Show the newest payment": "lenden pay get @last",
    },
    Amounts:
      "BDT (taka) with at most two decimals: 500, 1250.50. Rejected: 1,250, ৳500, ১২৫০, 1e3.",
    "Mobile numbers": `01XXXXXXXXX, +8801XXXXXXXXX or 8801XXXXXXXXX, also with spaces or hyphens. Sent as 01XXXXXXXXX, unless the profile sets number-format (${numberFormats.join(", ")}). Account numbers of Rocket (12 digits: the mobile number and a check digit) are accepted for its methods, and sent as typed; checks for duplicates compare the first 11. A refund's account number is sent as typed. An account number that looks like a mobile number with a digit missing or added needs --account-number-as-is, and so does any other number of a payout's recipient.`,
    References: "1 to 64 letters, digits, hyphens, underscores, no hyphen first: INV-2026-042.",
    IDs: {
      "<transaction-id>": "Payment",
      "<payout-id>": "Payout",
      "<refund-request-id>": "Refund",
      "<operation>": "Entry of the ledger: OP… or a payout's reference",
      "<batch>": "Batch: B…, its name or its file",
      "@last, @2, @3 …": "The newest of its kind, the one before it … (PowerShell: '@last')",
    },
    "Durations and times": {
      "500ms, 30s, 10m, 2h": "Durations",
      "today, yesterday, 2026-11-20": "Whole days",
      "2h ago, 30m ago, 3d ago": "Time before now",
      "2026-11-20T10:30": "A point in time; add Z for UTC, +06:00 for Dhaka",
    },
    "Time zone":
      "Days and times are those of the profile's time-zone (default: Asia/Dhaka). JSON has times in UTC.",
    Output: `${outputFormats.join(", ")}, on stdout; all else is on stderr. 'lenden help json' describes JSON. CSV cells that begin with =, +, - or @ get a ' before them.`,
  },
  batch: {
    Examples: {
      "Create a sample file": "lenden payout batch template payroll.csv",
    },
    Columns: columns,
    File: "CSV in UTF-8, or a workbook (.xlsx, .xls, .ods). The first row is the header. In a spreadsheet, format to as text, so that 01712345678 keeps its zero. Other columns come back in the export.",
    Payrolls:
      "'lenden payout batch clean <file>' writes such a file from a payroll with titles, other headings, lost zeros and totals.",
    Validation:
      "A row needs --allow-duplicates if its amount and recipient equal those of another row, another open batch, a payout of the last 24 hours, or a payout whose outcome is unknown.",
    Resume:
      "After Ctrl-C or a crash, run the same command again. lenden recognizes the batch by its rows, and by --name if you set it. File name, row order and number format may change.",
    "Next month":
      "To send the same rows again, alone or with more, set another --name, and change the references if the file has any.",
    "Failed rows":
      "'lenden payout batch export payroll.csv --only failed' prints the rows that can be sent again. Rejected and cancelled rows get new references. Correct the rows, then send them as a new file.",
  },
  faults: {
    Examples: {
      "Lose three in ten payout responses":
        "lenden sandbox exec --fault createPayout:lost-reply:0.3 --seed 1 -- npm test",
    },
    Rules:
      "--fault takes <endpoint>:<kind>[:<rate>]. The rate is a probability from 0 to 1 (default: 1).",
    Kinds: Object.fromEntries(
      Object.entries(faultKinds).map(([kind, { effect }]) => [kind, effect]),
    ),
    Endpoints: `${endpointNames.join(", ")}, or * for all.`,
    "Only in 'lenden sandbox torture'": {
      kill: "kills the program during its request",
      "callback-<kind>": "a callback fault, but lost",
    },
    "Callback faults": "--callback-fault takes <kind>[:<rate>]. The first matching rule applies.",
    "Kinds of callback faults": callbackFaultKinds,
    "Test numbers (for recipients, payers and refund accounts)": {
      "01955500001": "rejected; nothing is created",
      "01955500002": "created; the response takes five seconds",
      "01955500003": "created, then Cancelled",
    },
  },
};

function codes(): Record<string, string> {
  const rows = Object.entries(exits).map(([kind, { code, means, retry }]) => {
    const meaning = means.charAt(0).toUpperCase() + means.slice(1);
    return [String(code), `${meaning} (${kind}). Retry: ${retry}.`];
  });
  return Object.fromEntries(rows);
}
