import type { Command } from "../cli/command/define-command.ts";
import { keysOf } from "../domain/collect.ts";

/** A command or a group of commands, as the program finds, lists and completes it. */
export interface Entry {
  /** All its words: `payout batch send`. */
  name: string;
  summary: string;
  /** The heading under which the first page of help lists it. */
  heading: string | undefined;
  /** The description of a group in its help. */
  description: string | undefined;
  /** Absent for a group. A definition is loaded only when its command is on the command line. */
  load: (() => Promise<Command>) | undefined;
}

/**
 * All groups and commands, in the order of the help; a group is before its commands. A summary is an
 * imperative clause of at most 50 characters, without a period.
 */
const summaries = {
  methods: "List payment methods",
  pay: "Create and track payments",
  "pay create": "Create a payment and get its payment page",
  "pay get": "Show a payment",
  "pay wait": "Wait until a payment is Completed or Cancelled",
  "pay link": "Print the payment URL of a payment",
  "pay list": "List payments created with lenden",
  payout: "Send and track payouts to mobile wallets",
  "payout send": "Send a payout to a mobile wallet",
  "payout get": "Show a payout",
  "payout wait": "Wait until a payout is Completed or Cancelled",
  "payout list": "List payouts sent with lenden",
  "payout batch": "Send payouts from a CSV file",
  "payout batch template": "Write a CSV file to start from",
  "payout batch check": "Validate a CSV file of payouts",
  "payout batch send": "Send the payouts of a CSV file",
  "payout batch status": "Show the progress of a batch",
  "payout batch list": "List batches sent with lenden",
  "payout batch export": "Export the rows of a batch and their results",
  "payout batch resolve": "Record unknown payouts of a batch as not created",
  "payout batch cancel": "Cancel the rows of a batch that were not sent",
  "payout sign": "Sign a payout request, offline",
  "payout verify": "Verify a payout signature, offline",
  refund: "Create and track refunds",
  "refund create": "Refund a completed payment, or a part of it",
  "refund get": "Show a refund",
  "refund wait": "Wait until a refund is Completed or Cancelled",
  "refund list": "List refunds created with lenden",
  "refund cancel": "Cancel a refund that is still Processing",
  demo: "Walk through a payment, payout and refund",
  sandbox: "Run a local sandbox of the API",
  "sandbox start": "Run a local sandbox until Ctrl-C",
  "sandbox exec": "Run a program with a temporary sandbox",
  "sandbox trigger": "Complete or cancel records of a sandbox",
  "sandbox trigger payment": "Complete or cancel payments",
  "sandbox trigger payout": "Complete or cancel payouts",
  "sandbox trigger refund": "Complete or cancel refunds",
  "sandbox set": "Complete or cancel a record of a local sandbox",
  "sandbox requests": "Show the request log of a local sandbox",
  "sandbox statement": "Print the sandbox's records as a CSV statement",
  "sandbox info": "Show the sandbox account's details",
  profile: "Manage profiles (API credentials and settings)",
  "profile add": "Add a profile",
  "profile list": "List profiles",
  "profile show": "Show settings and where each value comes from",
  "profile use": "Select the profile that commands use",
  "profile set": "Change a setting of the profile in use",
  "profile rename": "Rename a profile",
  "profile remove": "Remove a profile with its credentials",
  doctor: "Check configuration, network and credentials",
  "verify-api": "Test what lenden assumes about the API",
  completion: "Print or install shell completions",
  ledger: "Inspect the ledger, lenden's record of operations",
  "ledger show": "Show an operation and its history",
  "ledger list": "List operations, newest first",
  "ledger resolve": "Resolve operations whose outcome is unknown",
  "ledger export": "Export the operations of the account",
  "ledger check": "Verify that the ledger was not modified",
  "ledger audit": "Compare operations with the records of the API",
  "ledger processes": "List running lenden processes on all machines",
  "ledger init": "Create a ledger on PostgreSQL",
  "ledger move": "Move this machine's ledger to PostgreSQL",
  "ledger backup": "Write a copy of the ledger to a file",
  "ledger restore": "Replace the ledger with a backup",
  report: "Report totals by day, method, recipient or user",
  reconcile: "Compare a provider's statement with the ledger",
  callback: "Receive, verify and test callbacks (webhooks)",
  "callback listen": "Receive, verify and forward callbacks",
  "callback verify": "Verify a callback with the API",
  "callback list": "List received callbacks, newest first",
  "callback show": "Show a received callback and its verification",
  "callback replay": "Verify and forward a callback again",
  "callback test": "Test your callback handler",
  api: "Make a raw API request",
};

type Name = keyof typeof summaries;

/** The definition of each command. */
const loaders: Partial<Record<Name, () => Promise<Command>>> = {
  methods: async () => (await import("./methods.ts")).methods,
  "pay create": async () => (await import("./pay.ts")).payCreate,
  "pay get": async () => (await import("./resource-commands.ts")).payGet,
  "pay wait": async () => (await import("./resource-commands.ts")).payWait,
  "pay link": async () => (await import("./pay.ts")).payLink,
  "pay list": async () => (await import("./resource-commands.ts")).payList,
  "payout send": async () => (await import("./payout/send.ts")).payoutSend,
  "payout get": async () => (await import("./resource-commands.ts")).payoutGet,
  "payout wait": async () => (await import("./resource-commands.ts")).payoutWait,
  "payout list": async () => (await import("./resource-commands.ts")).payoutList,
  "payout batch template": async () => (await import("./payout/batch/template.ts")).batchTemplate,
  "payout batch check": async () => (await import("./payout/batch/check.ts")).batchCheck,
  "payout batch send": async () => (await import("./payout/batch/send.ts")).batchSend,
  "payout batch status": async () => (await import("./payout/batch/existing.ts")).batchStatus,
  "payout batch list": async () => (await import("./payout/batch/existing.ts")).batchList,
  "payout batch export": async () => (await import("./payout/batch/existing.ts")).batchExport,
  "payout batch resolve": async () => (await import("./payout/batch/resolve.ts")).batchResolve,
  "payout batch cancel": async () => (await import("./payout/batch/existing.ts")).batchCancel,
  "payout sign": async () => (await import("./payout/signature.ts")).payoutSign,
  "payout verify": async () => (await import("./payout/signature.ts")).payoutVerify,
  "refund create": async () => (await import("./refund.ts")).refundCreate,
  "refund get": async () => (await import("./resource-commands.ts")).refundGet,
  "refund wait": async () => (await import("./resource-commands.ts")).refundWait,
  "refund list": async () => (await import("./resource-commands.ts")).refundList,
  "refund cancel": async () => (await import("./refund.ts")).refundCancel,
  demo: async () => (await import("./demo.ts")).demo,
  "sandbox start": async () => (await import("./sandbox/start.ts")).sandboxStart,
  "sandbox exec": async () => (await import("./sandbox/start.ts")).sandboxExec,
  "sandbox trigger payment": async () => (await import("./sandbox/trigger.ts")).triggerPayment,
  "sandbox trigger payout": async () => (await import("./sandbox/trigger.ts")).triggerPayout,
  "sandbox trigger refund": async () => (await import("./sandbox/trigger.ts")).triggerRefund,
  "sandbox set": async () => (await import("./sandbox/trigger.ts")).sandboxSet,
  "sandbox requests": async () => (await import("./sandbox/requests.ts")).sandboxRequests,
  "sandbox statement": async () => (await import("./sandbox/statement.ts")).sandboxStatement,
  "sandbox info": async () => (await import("./sandbox/requests.ts")).sandboxInfo,
  "profile add": async () => (await import("./profile/add.ts")).profileAdd,
  "profile list": async () => (await import("./profile/change.ts")).profileList,
  "profile show": async () => (await import("./profile/change.ts")).profileShow,
  "profile use": async () => (await import("./profile/change.ts")).profileUse,
  "profile set": async () => (await import("./profile/change.ts")).profileSet,
  "profile rename": async () => (await import("./profile/change.ts")).profileRename,
  "profile remove": async () => (await import("./profile/change.ts")).profileRemove,
  doctor: async () => (await import("./doctor.ts")).doctor,
  "verify-api": async () => (await import("./verify-api.ts")).verifyApi,
  completion: async () => (await import("./completion.ts")).completion,
  "ledger show": async () => (await import("./ledger/show.ts")).ledgerShow,
  "ledger list": async () => (await import("./ledger/list.ts")).ledgerList,
  "ledger resolve": async () => (await import("./ledger/resolve.ts")).ledgerResolve,
  "ledger export": async () => (await import("./ledger/export.ts")).ledgerExport,
  "ledger check": async () => (await import("./ledger/check.ts")).ledgerCheck,
  "ledger audit": async () => (await import("./ledger/audit.ts")).ledgerAudit,
  "ledger processes": async () => (await import("./ledger/server.ts")).ledgerProcesses,
  "ledger init": async () => (await import("./ledger/server.ts")).ledgerInit,
  "ledger move": async () => (await import("./ledger/server.ts")).ledgerMove,
  "ledger backup": async () => (await import("./ledger/backup.ts")).ledgerBackup,
  "ledger restore": async () => (await import("./ledger/backup.ts")).ledgerRestore,
  report: async () => (await import("./report.ts")).report,
  reconcile: async () => (await import("./reconcile.ts")).reconcile,
  "callback listen": async () => (await import("./callback/listen.ts")).callbackListen,
  "callback verify": async () => (await import("./callback/received.ts")).callbackVerify,
  "callback list": async () => (await import("./callback/received.ts")).callbackList,
  "callback show": async () => (await import("./callback/received.ts")).callbackShow,
  "callback replay": async () => (await import("./callback/received.ts")).callbackReplay,
  "callback test": async () => (await import("./callback/test.ts")).callbackTest,
  api: async () => (await import("./api.ts")).api,
};

const descriptions: Partial<Record<Name, string>> = {
  pay: "The customer pays on a payment page. The money has arrived only when 'lenden pay get' shows Completed.",
  "payout batch": "'lenden help batch' describes the file and its columns.",
  sandbox: "A sandbox behaves like the API, but moves no money.",
  profile: "A profile stores base URL, API key, payout secret and defaults under a name.",
  ledger:
    "lenden records every operation, such as a payout, in the ledger before it sends the request. The ledger is a file on this machine, or a PostgreSQL database that several machines share.",
  callback:
    "A callback can be forged. lenden therefore retrieves the payment or refund from the API, and trusts only that record.",
};

/** What the first page of help lists. */
const headings: Record<string, Name[]> = {
  "Payments and refunds": ["methods", "pay", "refund"],
  Payouts: ["payout", "payout batch"],
  Sandbox: ["demo", "sandbox"],
  Setup: ["profile", "doctor", "verify-api", "completion"],
  "Ledger, callbacks and API": ["ledger", "report", "reconcile", "callback", "api"],
};

export const entries: Entry[] = keysOf(summaries).map((name) => ({
  name,
  summary: summaries[name],
  heading: Object.keys(headings).find((heading) => headings[heading]?.includes(name)),
  description: descriptions[name],
  load: loaders[name],
}));

/** The entries right below a group; an empty name is lenden itself. */
export function entriesBelow(group: string): Entry[] {
  const start = group === "" ? "" : `${group} `;
  return entries.filter(
    ({ name }) => name.startsWith(start) && !name.slice(start.length).includes(" "),
  );
}

/** Every definition, for the manual and for tests. */
export async function loadCommands(): Promise<(Command & { name: string })[]> {
  const loaded = entries.map(async ({ name, load }) => (load ? [{ ...(await load()), name }] : []));
  return (await Promise.all(loaded)).flat();
}

/** What there is to read besides the help of the commands. At most six: everything else is in docs/. */
export const topics = [
  { name: "flags", summary: "Flags of every command, and environment variables" },
  { name: "exit-codes", summary: "Exit codes, and whether a command may be run again" },
  { name: "money-safety", summary: "How repeated commands do not pay twice" },
  { name: "formats", summary: "Amounts, numbers, references, IDs, times, output" },
  { name: "batch", summary: "The CSV file of a batch, and how it is sent" },
  { name: "faults", summary: "Faults that the local sandbox injects" },
] as const;

export type TopicName = (typeof topics)[number]["name"];
