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
    file: "sqlite/open.ts",
    name: "openDatabase",
    lift: (open, decorate) => async (path) => decorate(await open(path)),
  },
  /** The database of the ledger. `decorate` also gets the worker, for its clock. */
  database: {
    file: "ledger/ledger.ts",
    name: "openLedger",
    lift: (open, decorate) => (database, worker) => open(decorate(database, worker), worker),
  },
  ledger: {
    file: "ledger/ledger.ts",
    name: "openLedger",
    lift: (open, decorate) => (database, worker) => decorate(open(database, worker)),
  },
  /** What the ledger knows of processes, among other things whether one is alive. */
  worker: {
    file: "ledger/ledger.ts",
    name: "openLedger",
    lift: (open, decorate) => (database, worker) => open(database, decorate(worker)),
  },
  /** Whether other processes are alive, by the files that they lock. */
  presence: {
    file: "program/presence/presence.ts",
    name: "openPresence",
    lift: (open, decorate) => (database, options) => decorate(open(database, options), options),
  },
  /** The declared endpoints, as the client sees them. */
  contract: {
    file: "http/client.ts",
    name: "createClient",
    lift: (create, decorate) => (contract, wire) =>
      create(isOfApi(contract) ? decorate(contract) : contract, wire),
  },
  /** `world.client`. `decorate` also gets the wire, for its clock. */
  client: {
    file: "http/client.ts",
    name: "createClient",
    lift: (create, decorate) => (contract, wire) =>
      isOfApi(contract) ? decorate(create(contract, wire), wire) : create(contract, wire),
  },
  /** Makes the request of a call, with its timestamp and signature. */
  request: {
    file: "http/client.ts",
    name: "requestFor",
    lift: (requestFor, decorate) => decorate(requestFor),
  },
  /** What happened on the wire, also of raw calls. */
  transport: {
    file: "http/client.ts",
    name: "send",
    lift: (send, decorate) => (request, wire) =>
      send(request, { ...wire, transport: decorate(wire.transport) }),
  },
  /** What an exchange means. */
  judge: {
    file: "http/answer.ts",
    name: "judge",
    lift: (judge, decorate) => decorate(judge),
  },
  signature: {
    file: "contract/signature.ts",
    name: "sign",
    lift: (sign, decorate) => decorate(sign),
  },
  /** The clock and the machine of a command. */
  host: {
    file: "main.ts",
    name: "main",
    lift: (main, decorate) => (argv, host) => main(argv, decorate(host)),
  },
  /** What a person confirms before something is sent. */
  confirmation: {
    file: "program/terminal/confirm.ts",
    name: "confirm",
    lift: (confirm, decorate) => decorate(confirm),
  },
};

/** The local sandbox has a contract of its own. */
function isOfApi(contract) {
  return "createPayout" in contract;
}
