import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { override } from "../override.js";

const lost = ["test/ledger/lost-in-process.test.ts"];
const position = (title) => ["test/ledger/position.test.ts", "-t", title];

/** Bugs of the machine, its clock and its files, and of what a person confirms. */
export const hostBugs = [
  {
    name: "host: an acceptance counts wherever it was made, because an event says so",
    seam: "accepted",
    decorate: (isAccepted) => (integrity) => isAccepted(integrity, integrity.accepted),
    tests: ["test/ledger/modified.test.ts", "-t", "counts only there"],
  },
  {
    name: "production sends although the position of the ledger cannot be stored",
    seam: "noPosition",
    decorate: () => () => undefined,
    tests: position("production sends nothing"),
  },
  {
    name: "production sends with a ledger that is lost with its container",
    seam: "notPersistent",
    decorate: () => () => undefined,
    tests: ["test/ledger/file-system.test.ts", "-t", "lost with its container"],
  },
  {
    name: "the position of the ledger is not stored in LENDEN_STATE_DIR",
    seam: "positionFile",
    decorate:
      (fileOf) =>
      ({ config }, name) =>
        fileOf({ config, state: undefined }, name),
    tests: position("reveals an older ledger"),
  },
  {
    name: "an older position of the ledger wins over a newer one in LENDEN_STATE_DIR",
    seam: "positionFile",
    decorate: (fileOf) => (folders, name) => {
      const own = join(folders.config, name);
      return existsSync(own) ? own : fileOf(folders, name);
    },
    tests: position("the newer position counts"),
  },
  {
    name: "10 s are not waited before the next run",
    seam: "host",
    decorate: (host) =>
      override(host, {
        sleep: (sleep) => (ms, signal) => sleep(ms > 5_000 && ms <= 10_000 ? 0 : ms, signal),
      }),
    tests: ["test/commands/resolve.test.ts", "-t", "I3"],
  },
  {
    name: "a payout whose outcome is unknown is sent days later, when the machine wakes",
    seam: "host",
    decorate: withoutDays,
    tests: ["test/commands/clock.test.ts", "-t", "P25"],
  },
  {
    name: "a relative directory is another ledger in each working directory",
    seam: "host",
    decorate: (host) => {
      const { config, data } = host.folders;
      const folders = { ...host.folders, config: resolve(config), data: resolve(data) };
      return { ...host, folders };
    },
    tests: lost,
  },
  {
    name: "a ledger that is missing beside traces of use counts as a new one",
    seam: "ledgerFile",
    decorate: (stateOf) => (path, head) => {
      const state = stateOf(path, head);
      return state.kind === "missing" ? { kind: "new" } : state;
    },
    tests: lost,
  },
  {
    name: "a restored ledger sends with another config directory before it is accepted",
    seam: "storedHead",
    decorate: (storedHead) => (database, path) => {
      const stored = storedHead(database, path);
      return stored.head?.hash === "restored" ? { state: "missing", isModified: false } : stored;
    },
    tests: ["test/ledger/modified.test.ts", "-t", "with another config directory"],
  },
  {
    name: "real money: no confirmation is required",
    seam: "confirmation",
    decorate: (confirm) => (question, around) =>
      confirm(question, { ...around, globals: { ...around.globals, yes: true } }),
    tests: ["test/commands/production.test.ts"],
  },
  {
    name: "a refund to a number with a digit missing is sent",
    seam: "refundAccount",
    decorate: (read) => (text) => read(text, { asIs: true }),
    tests: ["test/commands/refund-account-number.test.ts", "-t", "non-interactively"],
  },
];

/** A clock that stops before it is a day later. */
function withoutDays(host) {
  const startMs = host.now();
  return override(host, { now: (now) => () => Math.min(now(), startMs + 23 * 60 * 60_000) });
}
