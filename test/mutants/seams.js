/**
 * The places of src where a seeded bug is woven in: each one is an exported function, which a bug replaces,
 * or whose arguments or result it replaces. When a function moves or gets another name, its line here is all
 * that has to change.
 *
 * `lift` makes the wrong function of the right one and a bug's `decorate`.
 *
 * @typedef {(...asked: any[]) => any} Work
 * @typedef {{ file: string, name: string, lift: (right: Work, decorate: Work) => Work }} Seam
 */

/** @type {Record<string, Seam>} */
export const seams = {
  /** Every SQLite file, and `:memory:`. */
  file: {
    file: "platform/sqlite/open.ts",
    name: "openDatabase",
    lift: (open, decorate) => async (path, leftMs) => decorate(await open(path, leftMs)),
  },
  /** The database of the ledger. `decorate` also gets the worker, for its clock. */
  database: {
    file: "ledger/sqlite/ledger.ts",
    name: "openLedger",
    lift: (open, decorate) => (database, worker) => open(decorate(database, worker), worker),
  },
  /** `decorate` also gets the database and the worker. */
  ledger: {
    file: "ledger/sqlite/ledger.ts",
    name: "openLedger",
    lift: (open, decorate) => (database, worker) =>
      decorate(open(database, worker), { database, worker }),
  },
  /** What the ledger knows of processes, among other things whether one is alive. */
  worker: {
    file: "ledger/sqlite/ledger.ts",
    name: "openLedger",
    lift: (open, decorate) => (database, worker) => open(database, decorate(worker)),
  },
  /** Whether other processes are alive, by the files that they lock. */
  processLock: {
    file: "platform/process-locks.ts",
    name: "createProcessLock",
    lift: (open, decorate) => (database, options) => decorate(open(database, options), options),
  },
  /** A ledger on PostgreSQL. */
  server: decoratedAt("ledger/postgres/ledger.ts", "openServerLedger"),
  /** What runs the work of a ledger on PostgreSQL. */
  serverDriver: decoratedAt("ledger/postgres/driver.ts", "createDriver"),
  /** The declared endpoints, as the client sees them. */
  contract: {
    file: "api/client.ts",
    name: "createClient",
    lift: (create, decorate) => (contract, wire) =>
      create(isOfApi(contract) ? decorate(contract) : contract, wire),
  },
  /** `deps.client`. `decorate` also gets the wire, for its clock. */
  client: {
    file: "api/client.ts",
    name: "createClient",
    lift: (create, decorate) => (contract, wire) =>
      isOfApi(contract) ? decorate(create(contract, wire), wire) : create(contract, wire),
  },
  /** Makes the request of a call, with its timestamp and signature. */
  request: decoratedAt("api/client.ts", "requestFor"),
  /** What happened on the wire, also of raw calls. */
  transport: {
    file: "api/client.ts",
    name: "send",
    lift: (send, decorate) => (request, wire) =>
      send(request, { ...wire, transport: decorate(wire.transport) }),
  },
  /** What an exchange means. */
  classify: decoratedAt("api/response.ts", "classify"),
  signature: decoratedAt("api/signature.ts", "sign"),
  /** The clock and the machine of a command. */
  host: {
    file: "main.ts",
    name: "main",
    lift: (main, decorate) => (argv, host) => main(argv, decorate(host)),
  },
  /** Why a run is an agent's. */
  agent: decoratedAt("config/agents.ts", "agentIn"),
  /** What a person confirms before something is sent. */
  confirmation: decoratedAt("cli/terminal/confirm.ts", "confirm"),
  /** What the ledger knows about claims. */
  claimFacts: decoratedAt("ledger/sql/duplicates.ts", "createClaimFacts"),
  /** The statements that find what a claim may repeat. */
  equalPayouts: decoratedAt("ledger/sql/repeated.ts", "manyEqualPayouts"),
  equalRefunds: decoratedAt("ledger/sql/repeated.ts", "refundsOfPayment"),
  equalPayments: decoratedAt("ledger/sql/repeated.ts", "equalPayments"),
  equalChanges: decoratedAt("ledger/sql/repeated.ts", "changesOfRecord"),
  /** What decides a claim: claims without a common key are decided by facts that are read at once. */
  claimKeys: decoratedAt("ledger/sql/duplicates.ts", "claimKeysOf"),
  /** Who may send what, by these facts. */
  claim: decoratedAt("ledger/decide.ts", "decideClaim"),
  /** What is sent of a payout that was claimed before. */
  order: decoratedAt("ledger/decide.ts", "decideOrder"),
  validSeal: decoratedAt("ledger/decide.ts", "hasValidSeal"),
  sealer: decoratedAt("ledger/seal.ts", "createSealer"),
  /** What an operation was last sent as. */
  lastAsked: decoratedAt("ledger/events.ts", "lastAsked"),
  /** Which event can follow which. */
  canFollow: decoratedAt("ledger/transitions.ts", "canFollow"),
  /** Since when an operation may be known to the API, by the events of some logins. */
  sendable: decoratedAt("ledger/events.ts", "sendableBy"),
  ofKey: decoratedAt("ledger/decide.ts", "isOfKey"),
  /** What a person is told of it who sends the same. */
  declared: decoratedAt("ledger/declared.ts", "withDeclared"),
  declaredBeside: decoratedAt("ledger/declared.ts", "declaredBeside"),
  /** The ledger file that a plan came from. */
  source: decoratedAt("ledger/plan.ts", "sourceInEvent"),
  sameOrder: decoratedAt("domain/new-reference.ts", "isOfSameOrder"),
  /** Whether the duplicates of an unsettled payout were checked when it was ordered. */
  wasChecked: decoratedAt("ledger/decide.ts", "wasChecked"),
  claimOfResumed: decoratedAt("ledger/decide.ts", "claimOfResumed"),
  clockWatch: decoratedAt("operations/deps.ts", "createClockWatch"),
  /** Whether limits judged it then. */
  isAhead: decoratedAt("ledger/decide.ts", "isAhead"),
  timeOfOutcome: decoratedAt("ledger/decide.ts", "timeOfOutcome"),
  /** Since when an operation was free. */
  freeStates: decoratedAt("ledger/events.ts", "freeStatesOf"),
  reported: decoratedAt("ledger/events.ts", "reportedAt"),
  reportedSince: decoratedAt("ledger/sql/conditions.ts", "isReportedSince"),
  /** An operation without what others recorded. */
  withoutOthers: decoratedAt("ledger/decide.ts", "withoutOthers"),

  freedByOthers: decoratedAt("ledger/decide.ts", "isFreedByOthers"),
  paidAgain: decoratedAt("ledger/decide.ts", "isPaidAgain"),
  comparedSince: decoratedAt("ledger/decide.ts", "comparedSince"),
  /** What counts besides what is judged again. */
  withoutUses: decoratedAt("ledger/limits.ts", "withoutUses"),
  /** The rejected payout whose reference the next one gets. */
  freeBefore: decoratedAt("ledger/decide.ts", "freeBefore"),
  /** The references that one replaces. */
  replaced: decoratedAt("domain/new-reference.ts", "replacedReferences"),
  /** What other logins recorded of an operation. */
  others: decoratedAt("ledger/events.ts", "recordedByOthers"),
  /** Whether an operation moved or will move money, or may have. */
  mayHavePaid: decoratedAt("ledger/decide.ts", "mayHavePaid"),
  /** The limits after their changes. */
  limits: decoratedAt("ledger/limits.ts", "limitsAfter"),
  /** The first limit that an order would exceed. */
  excess: decoratedAt("ledger/limits.ts", "excessOf"),
  /** Whether something that was sent counts against a limit. */
  counted: decoratedAt("ledger/limits.ts", "counts"),
  /** Since when, and until when. */
  countedSince: decoratedAt("ledger/limits.ts", "countedSince"),
  endOfUse: decoratedAt("ledger/limits.ts", "endOf"),
  /** Why nothing is sent, whatever its amount. */
  limitDenial: decoratedAt("ledger/limits.ts", "denialOf"),
  /** What is left of a payment to refund. */
  refundable: decoratedAt("ledger/decide.ts", "refundableOf"),
  /** Whether a status check contradicts a final status. */
  finalStatus: decoratedAt("ledger/decide.ts", "changesFinalStatus"),
  /** What an operation counts as in a report. */
  bucket: decoratedAt("report/report.ts", "bucketOf"),
  /** Whether a record is what its operation requested. */
  recordConflict: decoratedAt("operations/known-record.ts", "conflictIn"),
  /** What the ledger stores of a retrieved record. */
  shownRecord: decoratedAt("operations/known-record.ts", "recordShown"),
  /** The account number of a refund. */
  refundAccount: decoratedAt("domain/identifier.ts", "readRefundAccount"),
  /** A recipient as it is compared. */
  payee: decoratedAt("domain/mobile.ts", "payeeOf"),
  /** The ledger that the workers of a batch share. */
  commits: decoratedAt("ledger/commit-queue.ts", "withCommitQueue"),
  /** Whether there is a ledger, or there was one. */
  ledgerFile: decoratedAt("ledger/health.ts", "ledgerFileState"),
  /** Why nothing is sent with a server's ledger beside this machine's file. */
  unmoved: decoratedAt("ledger/move/unmoved.ts", "unmovedFailure"),
  /** Whether two URLs name one ledger on a server. */
  sameLedger: decoratedAt("domain/ledger-url.ts", "isSameLedger"),
  /** Why a ledger file does not outlast its container. */
  notPersistent: decoratedAt("ledger/health.ts", "notPersistent"),
  /** Where the head is stored, and why it cannot be. */
  positionFile: decoratedAt("ledger/position.ts", "positionFile"),
  noPosition: decoratedAt("ledger/position.ts", "noPosition"),
  /** What is stored of a ledger outside of it. */
  position: decoratedAt("ledger/position.ts", "readHead"),
  /** How the row of an operation differs from its events. */
  modification: decoratedAt("ledger/finding.ts", "findingOfOperation"),
  /** Where a server has a ledger, compared with where this machine has seen it. */
  serverDifferences: decoratedAt("ledger/server-identity.ts", "differencesOf"),
  /** Whether a person accepted what was modified. */
  accepted: decoratedAt("ledger/integrity.ts", "isAccepted"),
  /** What the stored head says about the ledger. */
  storedHead: decoratedAt("ledger/head.ts", "storedHead"),
  /** What a command does with the answer to a claim. */
  claimAnswer: decoratedAt("operations/payout/claim.ts", "checkClaim"),
  /** Sends a payout until a response decides its outcome. */
  attempts: decoratedAt("operations/payout/attempts.ts", "createPayout"),
  /** Whether a payout of unknown outcome may be sent again. */
  resendable: decoratedAt("operations/payout/unknown.ts", "assertResendable"),
  /** Whether a rejection proves that nothing was done. */
  rejectionProof: decoratedAt("operations/response-failure.ts", "provesNothingDone"),
  /** What `verify-api` found, and what lenden relies on because of it. */
  storedVerification: decoratedAt("verification/stored.ts", "storeVerification"),
  guarantees: decoratedAt("verification/stored.ts", "guaranteesOf"),
  /** Compares a payout with the response or the record. */
  comparison: decoratedAt("operations/payout/order.ts", "compare"),
  /** Sends one row of a batch. */
  row: decoratedAt("operations/payout/send.ts", "sendPlannedPayout"),
  surelyOlder: decoratedAt("operations/payout/age.ts", "isOlder"),
  maybeOlder: decoratedAt("operations/payout/age.ts", "mayBeOlder"),
  /** What `ledger resolve` does with an operation. */
  resolution: decoratedAt("operations/resolve.ts", "resolve"),
  /** Which payouts `ledger resolve` would send again, and what it asks about them. */
  resends: decoratedAt("operations/resends.ts", "readResends"),
  resendQuestion: decoratedAt("commands/ledger/resends.ts", "confirmResends"),
  /** A row of the ledger, as an operation. */
  operationRow: decoratedAt("ledger/rows.ts", "operationOf"),
  /** What a retrieved record shows about operations. */
  proof: decoratedAt("operations/resolve.ts", "resolveByRecord"),
  /** Whether a cell of a statement with a number may be a heading. */
  headingWithNumber: decoratedAt("tables/heading.ts", "isHeadingWithNumber"),
  /** The direction that a cell of a statement shows. */
  direction: decoratedAt("tables/direction.ts", "directionIn"),
  /** What the words of a cell of a statement show of the direction. */
  directionWords: decoratedAt("tables/direction.ts", "wordsIn"),
  /** The currency of a cell of a statement, if it is not BDT. */
  otherCurrency: decoratedAt("tables/currency.ts", "otherCurrencyOf"),
  /** Why a record is not adopted. */
  bounds: decoratedAt("domain/record-bounds.ts", "outOfBounds"),
  rawPath: decoratedAt("operations/raw.ts", "isAmbiguous"),
  hiddenWrite: decoratedAt("operations/raw.ts", "hidesWrite"),
  repeatedKey: decoratedAt("domain/json.ts", "repeatedKey"),
  /** What the rows of a file have to do with each other. */
  fileFindings: decoratedAt("batches/check.ts", "findingsAmong"),
  /** What the ledger has of the rows of a file or a plan. */
  ledgerFindings: decoratedAt("batches/check.ts", "findInLedger"),
  /** Whether there is more than was shown to the user. */
  laterFindings: decoratedAt("batches/check.ts", "hasMore"),
  openRows: decoratedAt("batches/plan.ts", "checkOpenRows"),
  batchOfFile: decoratedAt("batches/plan.ts", "findBatch"),
  /** Whether a plan has the rows of a file. */
  rowsOfBatch: decoratedAt("batches/same-rows.ts", "hasSameRows"),
  /** What of a batch is not as its event records it. */
  changedColumns: decoratedAt("ledger/plan.ts", "changedColumns"),
  /** Which batch a file is, by what the ledger has of it. */
  whichBatch: decoratedAt("batches/identity.ts", "whichBatch"),
  header: decoratedAt("batches/header.ts", "readHeader"),
  /** The rows of a file of payouts, and what cannot be read of them. */
  payrollRows: decoratedAt("batches/read-rows.ts", "readRows"),
  /** The recipient in a cell. */
  payeeCell: decoratedAt("batches/cells.ts", "payeeIn"),
  /** Whether a cell of a payroll names a total. */
  totalLabel: decoratedAt("tables/skipped.ts", "isTotalLabel"),
  /** Numbers of a payroll that were completed, and may be those of others. */
  completedNumbers: decoratedAt("batches/clean-completed.ts", "completedProblems"),
  /** An amount of a payroll. */
  cleanAmount: decoratedAt("batches/clean-cells.ts", "cleanAmount"),
  /** Gives rows of a file without references theirs. */
  identity: decoratedAt("batches/identity.ts", "identify"),
  resumedBatch: decoratedAt("batches/plan.ts", "resumeBatch"),
  /** Sends the rows of a batch. */
  batch: decoratedAt("batches/send.ts", "sendBatch"),
  throttle: decoratedAt("batches/throttle.ts", "createThrottle"),
  /** How many rows of a batch are claimed at once. */
  workers: decoratedAt("batches/workers.ts", "createWorkers"),
  rowStatus: decoratedAt("batches/status.ts", "rowStatusOf"),
  /** How a row that was not paid can be sent again. */
  retryPlan: decoratedAt("batches/retries.ts", "createRetryPlanner"),
  /** Changes the stored profiles. */
  profiles: decoratedAt("config/profiles.ts", "changeProfiles"),
  /** What is confirmed before a profile gets a new key, or another ledger. */
  newKey: decoratedAt("commands/profile/confirmed.ts", "confirmNewKey"),
  otherLedger: decoratedAt("config/key-change.ts", "otherLedgerQuestion"),
  /** What keeps a stored key and payout secret from another host. */
  otherHost: decoratedAt("config/key-change.ts", "requireOwnCredentials"),
  /** Tests a key before it is stored. */
  keyTest: decoratedAt("config/key-change.ts", "requireAccepted"),
};

/** A seam at which `decorate` gets the right function itself. */
function decoratedAt(file, name) {
  return { file, name, lift: (right, decorate) => decorate(right) };
}

/** The local sandbox has a contract of its own. */
function isOfApi(contract) {
  return "createPayout" in contract;
}
