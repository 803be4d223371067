import type { Command } from "../cli/command/define-command.ts";

/** A command or a group of commands, as the program finds, lists and completes it. */
export interface Entry {
  /** All its words: `payout batch send`. */
  name: string;
  /** An imperative clause of at most 50 characters, without a period. */
  summary: string;
  /** The heading under which the first page of help lists it. */
  heading?: string;
  /** The description of a group in its help. */
  description?: string;
  /** Absent for a group. A definition is loaded only when its command is on the command line. */
  load?: () => Promise<Command>;
}

/** All groups and commands, in the order of the help; a group is before its commands. */
export const entries: Entry[] = [
  {
    name: "methods",
    heading: "Payments and refunds",
    summary: "List payment methods",
    load: async () => (await import("./methods.ts")).methods,
  },
  {
    name: "pay",
    heading: "Payments and refunds",
    summary: "Create and track payments",
    description:
      "The customer pays on a payment page. The money has arrived when 'lenden pay get' shows Completed, and not before.",
  },
  {
    name: "pay create",
    summary: "Create a payment and get its payment page",
    load: async () => (await import("./pay/create.ts")).payCreate,
  },
  {
    name: "pay get",
    summary: "Show a payment",
    load: async () => (await import("./resource-commands.ts")).payGet,
  },
  {
    name: "pay wait",
    summary: "Wait until a payment is Completed or Cancelled",
    load: async () => (await import("./resource-commands.ts")).payWait,
  },
  {
    name: "pay list",
    summary: "List payments created from this machine",
    load: async () => (await import("./resource-commands.ts")).payList,
  },
  {
    name: "payout",
    heading: "Payouts",
    summary: "Send and track payouts to mobile wallets",
    description: "'sign' and 'verify' work offline, for your own API client.",
  },
  {
    name: "payout send",
    summary: "Send a payout to a mobile wallet",
    load: async () => (await import("./payout/send.ts")).payoutSend,
  },
  {
    name: "payout get",
    summary: "Show a payout",
    load: async () => (await import("./resource-commands.ts")).payoutGet,
  },
  {
    name: "payout wait",
    summary: "Wait until a payout is Completed or Cancelled",
    load: async () => (await import("./resource-commands.ts")).payoutWait,
  },
  {
    name: "payout list",
    summary: "List payouts sent from this machine",
    load: async () => (await import("./resource-commands.ts")).payoutList,
  },
  {
    name: "payout batch",
    heading: "Payouts",
    summary: "Send payouts from a CSV file",
    description:
      "'check' validates a file, 'send' sends or resumes it, 'status' and 'export' show the results. 'lenden help batch' describes it.",
  },
  {
    name: "payout batch template",
    summary: "Write a CSV file to start from",
    load: async () => (await import("./payout/batch/template.ts")).batchTemplate,
  },
  {
    name: "payout batch check",
    summary: "Validate a CSV file of payouts",
    load: async () => (await import("./payout/batch/check.ts")).batchCheck,
  },
  {
    name: "payout batch send",
    summary: "Send the payouts of a CSV file",
    load: async () => (await import("./payout/batch/send.ts")).batchSend,
  },
  {
    name: "payout batch status",
    summary: "Show the progress of a batch",
    load: async () => (await import("./payout/batch/status.ts")).batchStatus,
  },
  {
    name: "payout batch list",
    summary: "List batches sent from this machine",
    load: async () => (await import("./payout/batch/list.ts")).batchList,
  },
  {
    name: "payout batch export",
    summary: "Export the rows of a batch and their results",
    load: async () => (await import("./payout/batch/export.ts")).batchExport,
  },
  {
    name: "payout batch resolve",
    summary: "Record rows of unknown outcome as not created",
    load: async () => (await import("./payout/batch/resolve.ts")).batchResolve,
  },
  {
    name: "payout batch cancel",
    summary: "Cancel the rows of a batch that were not sent",
    load: async () => (await import("./payout/batch/cancel.ts")).batchCancel,
  },
  {
    name: "payout sign",
    summary: "Sign a payout request, offline",
    load: async () => (await import("./payout/sign.ts")).payoutSign,
  },
  {
    name: "payout verify",
    summary: "Verify a payout signature, offline",
    load: async () => (await import("./payout/verify.ts")).payoutVerify,
  },
  {
    name: "refund",
    heading: "Payments and refunds",
    summary: "Create and track refunds",
    description: "A refund can be cancelled while it is Processing.",
  },
  {
    name: "refund create",
    summary: "Refund a completed payment, or a part of it",
    load: async () => (await import("./refund/create.ts")).refundCreate,
  },
  {
    name: "refund get",
    summary: "Show a refund",
    load: async () => (await import("./resource-commands.ts")).refundGet,
  },
  {
    name: "refund wait",
    summary: "Wait until a refund is Completed or Cancelled",
    load: async () => (await import("./resource-commands.ts")).refundWait,
  },
  {
    name: "refund list",
    summary: "List refunds created from this machine",
    load: async () => (await import("./resource-commands.ts")).refundList,
  },
  {
    name: "refund cancel",
    summary: "Cancel a refund that is still Processing",
    load: async () => (await import("./refund/cancel.ts")).refundCancel,
  },
  {
    name: "demo",
    heading: "Sandbox",
    summary: "Walk through a payment, payout and refund",
    load: async () => (await import("./demo.ts")).demo,
  },
  {
    name: "sandbox",
    heading: "Sandbox",
    summary: "Run a local sandbox of the API",
    description:
      "'start' and 'exec' run the API on this machine, with injected faults if you like. 'trigger' completes a payment or a payout in any sandbox.",
  },
  {
    name: "sandbox start",
    summary: "Run a local sandbox until Ctrl-C",
    load: async () => (await import("./sandbox/start.ts")).sandboxStart,
  },
  {
    name: "sandbox exec",
    summary: "Run a program with a temporary sandbox",
    load: async () => (await import("./sandbox/exec.ts")).sandboxExec,
  },
  { name: "sandbox trigger", summary: "Complete a payment or a payout in a sandbox" },
  {
    name: "sandbox trigger payment",
    summary: "Complete a payment in a sandbox",
    load: async () => (await import("./sandbox/trigger.ts")).triggerPayment,
  },
  {
    name: "sandbox trigger payout",
    summary: "Complete a payout in a sandbox",
    load: async () => (await import("./sandbox/trigger.ts")).triggerPayout,
  },
  {
    name: "sandbox set",
    summary: "Complete or cancel a record of a local sandbox",
    load: async () => (await import("./sandbox/trigger.ts")).sandboxSet,
  },
  {
    name: "sandbox requests",
    summary: "Show the request log of a local sandbox",
    load: async () => (await import("./sandbox/requests.ts")).sandboxRequests,
  },
  {
    name: "sandbox info",
    summary: "Show what the API reports about the sandbox",
    load: async () => (await import("./sandbox/info.ts")).sandboxInfo,
  },
  {
    name: "profile",
    heading: "Setup",
    summary: "Manage profiles (API credentials and settings)",
    description: "A profile stores base URL, API key, payout secret and defaults under a name.",
  },
  {
    name: "profile add",
    summary: "Add a profile",
    load: async () => (await import("./profile/add.ts")).profileAdd,
  },
  {
    name: "profile list",
    summary: "List profiles",
    load: async () => (await import("./profile/show.ts")).profileList,
  },
  {
    name: "profile show",
    summary: "Show settings and where each value comes from",
    load: async () => (await import("./profile/show.ts")).profileShow,
  },
  {
    name: "profile use",
    summary: "Select the profile that commands use",
    load: async () => (await import("./profile/change.ts")).profileUse,
  },
  {
    name: "profile set",
    summary: "Change a setting of the profile in use",
    load: async () => (await import("./profile/change.ts")).profileSet,
  },
  {
    name: "profile rename",
    summary: "Rename a profile",
    load: async () => (await import("./profile/change.ts")).profileRename,
  },
  {
    name: "profile remove",
    summary: "Remove a profile with its credentials",
    load: async () => (await import("./profile/change.ts")).profileRemove,
  },
  {
    name: "doctor",
    heading: "Setup",
    summary: "Check configuration, network and credentials",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "completion",
    heading: "Setup",
    summary: "Print or install shell completions",
    load: async () => (await import("./completion.ts")).completion,
  },
  {
    name: "ledger",
    heading: "Ledger, callbacks and API",
    summary: "Inspect and reconcile the local ledger",
    description:
      "Everything that moves money is recorded in the ledger before it is sent. The API has no lists, so the ledger is the only one.",
  },
  {
    name: "ledger show",
    summary: "Show an operation and its history",
    load: async () => (await import("./ledger/show.ts")).ledgerShow,
  },
  {
    name: "ledger list",
    summary: "List operations, newest first",
    load: async () => (await import("./ledger/list.ts")).ledgerList,
  },
  {
    name: "ledger resolve",
    summary: "Resolve operations whose outcome is unknown",
    load: async () => (await import("./ledger/resolve.ts")).ledgerResolve,
  },
  {
    name: "ledger export",
    summary: "Export the operations of the account",
    load: async () => (await import("./ledger/export.ts")).ledgerExport,
  },
  {
    name: "ledger check",
    summary: "Verify that the ledger was not modified",
    load: async () => (await import("./ledger/check.ts")).ledgerCheck,
  },
  {
    name: "ledger backup",
    summary: "Write a copy of the ledger to a file",
    load: async () => (await import("./ledger/backup.ts")).ledgerBackup,
  },
  {
    name: "ledger restore",
    summary: "Replace the ledger with a backup",
    load: async () => (await import("./ledger/restore.ts")).ledgerRestore,
  },
  {
    name: "callback",
    heading: "Ledger, callbacks and API",
    summary: "Receive, verify and test callbacks (webhooks)",
    description:
      "Anyone can send a callback. lenden retrieves the record behind each one, and only the record counts.",
  },
  {
    name: "callback listen",
    summary: "Receive, verify and forward callbacks",
    load: async () => (await import("./callback/listen.ts")).callbackListen,
  },
  {
    name: "callback verify",
    summary: "Verify a callback with the API",
    load: async () => (await import("./callback/verify.ts")).callbackVerify,
  },
  {
    name: "callback list",
    summary: "List received callbacks, newest first",
    load: async () => (await import("./callback/show.ts")).callbackList,
  },
  {
    name: "callback show",
    summary: "Show a received callback and its verification",
    load: async () => (await import("./callback/show.ts")).callbackShow,
  },
  {
    name: "callback replay",
    summary: "Verify and forward a callback again",
    load: async () => (await import("./callback/replay.ts")).callbackReplay,
  },
  {
    name: "callback test",
    summary: "Test your callback handler",
    load: async () => (await import("./callback/test.ts")).callbackTest,
  },
  {
    name: "api",
    heading: "Ledger, callbacks and API",
    summary: "Make a raw API request",
    load: async () => (await import("./api.ts")).api,
  },
];

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
