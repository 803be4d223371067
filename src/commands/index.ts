import type { Entry } from "../cli/command/table.ts";

/**
 * All groups and commands, in the order of the help; a group is before its commands. A summary is an
 * imperative clause of at most 50 characters, without a period.
 */
const table: Record<string, Omit<Entry, "name">> = {
  methods: {
    summary: "List payment methods",
    heading: "Payments and refunds",
    load: async () => (await import("./methods.ts")).methods,
  },
  pay: {
    summary: "Create and track payments",
    heading: "Payments and refunds",
    description:
      "The customer pays on a payment page. The money has arrived only when 'lenden pay get' shows Completed.",
  },
  "pay create": {
    summary: "Create a payment and get its payment page",
    load: async () => (await import("./pay/create.ts")).payCreate,
  },
  "pay get": {
    summary: "Show a payment",
    load: async () => (await import("./resource-commands.ts")).payGet,
  },
  "pay wait": {
    summary: "Wait until a payment is Completed or Cancelled",
    load: async () => (await import("./resource-commands.ts")).payWait,
  },
  "pay link": {
    summary: "Print the payment URL of a payment",
    load: async () => (await import("./pay/link.ts")).payLink,
  },
  "pay list": {
    summary: "List payments created with lenden",
    load: async () => (await import("./resource-commands.ts")).payList,
  },
  payout: { summary: "Send and track payouts to mobile wallets", heading: "Payouts" },
  "payout send": {
    summary: "Send a payout to a mobile wallet",
    load: async () => (await import("./payout/send.ts")).payoutSend,
  },
  "payout get": {
    summary: "Show a payout",
    load: async () => (await import("./resource-commands.ts")).payoutGet,
  },
  "payout wait": {
    summary: "Wait until a payout is Completed or Cancelled",
    load: async () => (await import("./resource-commands.ts")).payoutWait,
  },
  "payout list": {
    summary: "List payouts sent with lenden",
    load: async () => (await import("./resource-commands.ts")).payoutList,
  },
  "payout batch": {
    summary: "Send payouts from a CSV file",
    heading: "Payouts",
    description: "'lenden help batch' describes the file and its columns.",
  },
  "payout batch template": {
    summary: "Write a CSV file to start from",
    load: async () => (await import("./payout/batch/template.ts")).batchTemplate,
  },
  "payout batch clean": {
    summary: "Clean a payroll, so that it can be sent",
    load: async () => (await import("./payout/batch/clean.ts")).batchClean,
  },
  "payout batch check": {
    summary: "Validate a CSV file of payouts",
    load: async () => (await import("./payout/batch/check.ts")).batchCheck,
  },
  "payout batch send": {
    summary: "Send the payouts of a CSV file",
    load: async () => (await import("./payout/batch/send.ts")).batchSend,
  },
  "payout batch status": {
    summary: "Show the progress of a batch",
    load: async () => (await import("./payout/batch/status.ts")).batchStatus,
  },
  "payout batch list": {
    summary: "List batches sent with lenden",
    load: async () => (await import("./payout/batch/list.ts")).batchList,
  },
  "payout batch export": {
    summary: "Export the rows of a batch and their results",
    load: async () => (await import("./payout/batch/export.ts")).batchExport,
  },
  "payout batch resolve": {
    summary: "Record unknown payouts of a batch as not created",
    load: async () => (await import("./payout/batch/resolve.ts")).batchResolve,
  },
  "payout batch cancel": {
    summary: "Cancel the rows of a batch that were not sent",
    load: async () => (await import("./payout/batch/cancel.ts")).batchCancel,
  },
  "payout sign": {
    summary: "Sign a payout request, offline",
    load: async () => (await import("./payout/signature.ts")).payoutSign,
  },
  "payout verify": {
    summary: "Verify a payout signature, offline",
    load: async () => (await import("./payout/signature.ts")).payoutVerify,
  },
  refund: { summary: "Create and track refunds", heading: "Payments and refunds" },
  "refund create": {
    summary: "Refund a completed payment, or a part of it",
    load: async () => (await import("./refund/create.ts")).refundCreate,
  },
  "refund get": {
    summary: "Show a refund",
    load: async () => (await import("./resource-commands.ts")).refundGet,
  },
  "refund wait": {
    summary: "Wait until a refund is Completed or Cancelled",
    load: async () => (await import("./resource-commands.ts")).refundWait,
  },
  "refund list": {
    summary: "List refunds created with lenden",
    load: async () => (await import("./resource-commands.ts")).refundList,
  },
  "refund cancel": {
    summary: "Cancel a refund that is still Processing",
    load: async () => (await import("./refund/cancel.ts")).refundCancel,
  },
  demo: {
    summary: "Walk through a payment, payout and refund",
    heading: "Sandbox",
    load: async () => (await import("./demo.ts")).demo,
  },
  sandbox: {
    summary: "Run a local sandbox of the API",
    heading: "Sandbox",
    description: "A sandbox behaves like the API, but moves no money.",
  },
  "sandbox start": {
    summary: "Run a local sandbox until Ctrl-C",
    load: async () => (await import("./sandbox/start.ts")).sandboxStart,
  },
  "sandbox exec": {
    summary: "Run a program with a temporary sandbox",
    load: async () => (await import("./sandbox/exec.ts")).sandboxExec,
  },
  "sandbox torture": {
    summary: "Test if your own program pays once under faults",
    load: async () => (await import("./sandbox/torture.ts")).sandboxTorture,
  },
  "sandbox trigger": { summary: "Complete or cancel records of a sandbox" },
  "sandbox trigger payment": {
    summary: "Complete or cancel payments",
    load: async () => (await import("./sandbox/trigger.ts")).triggerPayment,
  },
  "sandbox trigger payout": {
    summary: "Complete or cancel payouts",
    load: async () => (await import("./sandbox/trigger.ts")).triggerPayout,
  },
  "sandbox trigger refund": {
    summary: "Complete or cancel refunds",
    load: async () => (await import("./sandbox/trigger.ts")).triggerRefund,
  },
  "sandbox set": {
    summary: "Complete or cancel a record of a local sandbox",
    load: async () => (await import("./sandbox/set.ts")).sandboxSet,
  },
  "sandbox requests": {
    summary: "Show the request log of a local sandbox",
    load: async () => (await import("./sandbox/requests.ts")).sandboxRequests,
  },
  "sandbox statement": {
    summary: "Print the sandbox's records as a CSV statement",
    load: async () => (await import("./sandbox/statement.ts")).sandboxStatement,
  },
  "sandbox info": {
    summary: "Show the sandbox account's details",
    load: async () => (await import("./sandbox/info.ts")).sandboxInfo,
  },
  profile: {
    summary: "Manage profiles (API credentials and settings)",
    heading: "Setup",
    description: "A profile stores base URL, API key, payout secret and defaults under a name.",
  },
  "profile add": {
    summary: "Add a profile",
    load: async () => (await import("./profile/add.ts")).profileAdd,
  },
  "profile list": {
    summary: "List profiles",
    load: async () => (await import("./profile/list.ts")).profileList,
  },
  "profile show": {
    summary: "Show settings and where each value comes from",
    load: async () => (await import("./profile/show.ts")).profileShow,
  },
  "profile use": {
    summary: "Select the profile that commands use",
    load: async () => (await import("./profile/use.ts")).profileUse,
  },
  "profile set": {
    summary: "Change a setting of the profile in use",
    load: async () => (await import("./profile/set.ts")).profileSet,
  },
  "profile rotate": {
    summary: "Replace the API key and the payout secret",
    load: async () => (await import("./profile/rotate.ts")).profileRotate,
  },
  "profile rename": {
    summary: "Rename a profile",
    load: async () => (await import("./profile/rename.ts")).profileRename,
  },
  "profile remove": {
    summary: "Remove a profile with its credentials",
    load: async () => (await import("./profile/remove.ts")).profileRemove,
  },
  doctor: {
    summary: "Check configuration, network and credentials",
    heading: "Setup",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  "verify-api": {
    summary: "Test what lenden assumes about the API",
    heading: "Setup",
    load: async () => (await import("./verify-api.ts")).verifyApi,
  },
  completion: {
    summary: "Print or install shell completions",
    heading: "Setup",
    load: async () => (await import("./completion.ts")).completion,
  },
  ledger: {
    summary: "Inspect the ledger, lenden's record of operations",
    heading: "Ledger, callbacks and API",
    description:
      "lenden records every operation, such as a payout, in the ledger before it sends the request. The ledger is a file on this machine, or a PostgreSQL database that several machines share.",
  },
  "ledger show": {
    summary: "Show an operation and its history",
    load: async () => (await import("./ledger/show.ts")).ledgerShow,
  },
  "ledger list": {
    summary: "List operations, newest first",
    load: async () => (await import("./ledger/list.ts")).ledgerList,
  },
  "ledger resolve": {
    summary: "Resolve operations whose outcome is unknown",
    load: async () => (await import("./ledger/resolve.ts")).ledgerResolve,
  },
  "ledger export": {
    summary: "Export the operations of the account",
    load: async () => (await import("./ledger/export.ts")).ledgerExport,
  },
  "ledger check": {
    summary: "Verify that the ledger was not modified",
    load: async () => (await import("./ledger/check.ts")).ledgerCheck,
  },
  "ledger audit": {
    summary: "Compare operations with the records of the API",
    load: async () => (await import("./ledger/audit.ts")).ledgerAudit,
  },
  "ledger processes": {
    summary: "List running lenden processes on all machines",
    load: async () => (await import("./ledger/processes.ts")).ledgerProcesses,
  },
  "ledger init": {
    summary: "Create a ledger on PostgreSQL",
    load: async () => (await import("./ledger/init.ts")).ledgerInit,
  },
  "ledger move": {
    summary: "Move this machine's ledger to PostgreSQL",
    load: async () => (await import("./ledger/move.ts")).ledgerMove,
  },
  "ledger backup": {
    summary: "Write a copy of the ledger to a file",
    load: async () => (await import("./ledger/backup.ts")).ledgerBackup,
  },
  "ledger restore": {
    summary: "Replace the ledger with a backup",
    load: async () => (await import("./ledger/restore.ts")).ledgerRestore,
  },
  limits: {
    summary: "Show what may be sent at most",
    heading: "Ledger, callbacks and API",
    load: async () => (await import("./limits/show.ts")).limitsShow,
  },
  "limits set": {
    summary: "Set limits of payouts and refunds",
    load: async () => (await import("./limits/set.ts")).limitsSet,
  },
  report: {
    summary: "Report totals by day, method, recipient or user",
    heading: "Ledger, callbacks and API",
    load: async () => (await import("./report.ts")).report,
  },
  reconcile: {
    summary: "Compare a provider's statement with the ledger",
    heading: "Ledger, callbacks and API",
    load: async () => (await import("./reconcile.ts")).reconcile,
  },
  mcp: {
    summary: "Serve tools to an AI agent over stdio",
    heading: "Ledger, callbacks and API",
    load: async () => (await import("./mcp.ts")).mcp,
  },
  mapping: {
    summary: "Manage stored column mappings of files",
    heading: "Ledger, callbacks and API",
    description: "A mapping stores how the columns of your files are read, under a name.",
  },
  "mapping list": {
    summary: "List mappings",
    load: async () => (await import("./mapping/list.ts")).mappingList,
  },
  "mapping show": {
    summary: "Show the columns of a mapping",
    load: async () => (await import("./mapping/show.ts")).mappingShow,
  },
  "mapping remove": {
    summary: "Remove a mapping",
    load: async () => (await import("./mapping/remove.ts")).mappingRemove,
  },
  callback: {
    summary: "Receive, verify and test callbacks (webhooks)",
    heading: "Ledger, callbacks and API",
    description:
      "A callback can be forged. lenden therefore retrieves the payment or refund from the API, and trusts only that record.",
  },
  "callback listen": {
    summary: "Receive, verify and forward callbacks",
    load: async () => (await import("./callback/listen.ts")).callbackListen,
  },
  "callback verify": {
    summary: "Verify a callback with the API",
    load: async () => (await import("./callback/verify.ts")).callbackVerify,
  },
  "callback list": {
    summary: "List received callbacks, newest first",
    load: async () => (await import("./callback/list.ts")).callbackList,
  },
  "callback show": {
    summary: "Show a received callback and its verification",
    load: async () => (await import("./callback/show.ts")).callbackShow,
  },
  "callback replay": {
    summary: "Verify and forward a callback again",
    load: async () => (await import("./callback/replay.ts")).callbackReplay,
  },
  "callback test": {
    summary: "Test your callback handler",
    load: async () => (await import("./callback/test.ts")).callbackTest,
  },
  api: {
    summary: "Make a raw API request",
    heading: "Ledger, callbacks and API",
    load: async () => (await import("./api.ts")).api,
  },
};

export const entries: Entry[] = Object.entries(table).map(([name, entry]) => ({ name, ...entry }));
