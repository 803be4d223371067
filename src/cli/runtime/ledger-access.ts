import { ulid } from "ulid";
import { type Account, type RecordsOwner, recordsOwnerOf } from "../../config/account.ts";
import { findProfile, type Profile, type Profiles } from "../../config/profiles.ts";
import {
  type LedgerLoginFlags,
  type LedgerSettings,
  namedLedger,
  withLoginOf,
} from "../../config/settings.ts";
import { onceMade } from "../../domain/collect.ts";
import { Failure, usage, whyAndHint } from "../../domain/failure.ts";
import { placeIn } from "../../domain/identifier.ts";
import type { LedgerUrl } from "../../domain/ledger-url.ts";
import { formatTime } from "../../domain/local-time.ts";
import { isImported, isTest } from "../../domain/state.ts";
import { commandGroup, type Resource } from "../../domain/statuses.ts";
import { counted, inCommand } from "../../domain/text.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import { createSingleChanges } from "../../ledger/change.ts";
import { createHeadKeeper, headPath, withCommitCallback } from "../../ledger/head.ts";
import { notPersistent, rejectNetworkFileSystem } from "../../ledger/health.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { LedgerMaintenance } from "../../ledger/maintenance.ts";
import type { MovableLedger } from "../../ledger/move/move.ts";
import type { Operation, Origin } from "../../ledger/operation.ts";
import { noPosition } from "../../ledger/position.ts";
import type { UnseenLedger } from "../../ledger/postgres/ledger.ts";
import { ledgerFile, prepareFile, requireLedger } from "../../ledger/sqlite/file.ts";
import { openLedger } from "../../ledger/sqlite/ledger.ts";
import type { Recorder } from "../../ledger/worker.ts";
import type { Host } from "../../platform/host.ts";
import { alone, createProcessLock } from "../../platform/process-locks.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { agoText } from "../output/time.ts";
import type { Ui } from "../terminal/ui.ts";
import type { ConfigAccess } from "./config-access.ts";
import { ownerOf } from "./ledger-owner.ts";
import type { RunParts } from "./parts.ts";

/** The ledger, as commands use it. */
export type LedgerAccess = ReturnType<typeof createLedgerAccess>;

type Owned = Account | RecordsOwner;

/** The ledgers of a run; each is opened when it is first needed. */
export function createLedgerAccess(parts: RunParts, config: ConfigAccess, ui: Pick<Ui, "confirm">) {
  const { open, openAt } = openersOf(parts, config, ui);
  const own = onceMade(async () => {
    const account = await config.account();
    return noting(parts, await openOwn(account, await open(account), parts, config));
  });
  const records = onceMade(async () => {
    const owned = await config.recordsOwner();
    return rememberingLimits(owned, await open(owned), parts, config);
  });
  return {
    /** The ledger of the account that the run is for. */
    own,
    /** For a command that only reads, without an API key: of the account that the settings name, or of all accounts. */
    records,
    /** For a command that only reads: what a profile's stored key recorded, whatever profile the run is for. */
    ofProfile: async (name: string, profile: Profile): Promise<Ledger> =>
      open(recordsOwnerOf(name, profile), name),
    /** For an account that leaves no trace on this machine; in memory, unless a server is named. */
    apart: async (owned: Account, server: LedgerSettings | undefined): Promise<Ledger> =>
      server ? openAt(server, owned) : openFile(parts, owned, ":memory:"),
    /**
     * A typed ID; for `@last`, `@2` and so on, the API's ID of the newest operation of a kind.
     *
     * @throws Failure `not-found` if there is none, or if it or a newer one may have been created
     */
    idOf: async (kind: Resource, typed: string, from: "own" | "records" = "own") => {
      await config.refuseSecrets(typed);
      return typed.startsWith("@")
        ? idAt(kind, typed, await (from === "own" ? own() : records()))
        : typed;
    },
    /** The ledger as a whole: of all accounts, without an API key. */
    maintenance: async (): Promise<LedgerMaintenance> => {
      const { ledger: server } = await config.settings();
      if (server) {
        const { createServerMaintenance } = await import("../../ledger/postgres/maintenance.ts");
        const { serverPlace } = await import("./ledger-server.ts");
        const { environment } = await config.recordsOwner();
        return createServerMaintenance(serverPlace(server, parts), environment);
      }
      const { createLedgerMaintenance } = await import("../../ledger/sqlite/maintenance.ts");
      return createLedgerMaintenance(parts);
    },
    ...serverAccess(parts, config),
  };
}

function serverAccess(parts: RunParts, { settings }: ConfigAccess) {
  const { env } = parts.host;
  return {
    /**
     * Creates a ledger on a server, or repairs it.
     *
     * @param url default: of the ledger in use
     */
    createOnServer: async (url: LedgerUrl | undefined, flags: LedgerLoginFlags) => {
      const server = url ? namedLedger(url, flags, env) : (await settings()).ledger;
      if (!server)
        throw usage(
          ["Missing required argument <url>."],
          "Example: postgres://postgres@db.example/lenden.",
        );
      return (await import("./ledger-server.ts")).createServerLedger(server, parts);
    },
    /** The SQL that does the same. */
    schemaSql: async () => (await import("../../ledger/postgres/schema.ts")).schemaSql(),
    /** Calls work with the ledger file of this machine, which can be moved to a server. */
    moveToServer: async <Result>(
      url: LedgerUrl,
      flags: LedgerLoginFlags,
      work: (ledger: MovableLedger) => Promise<Result>,
    ): Promise<Result> => {
      const { withMovableLedger } = await import("../../ledger/move/move.ts");
      const server = withLoginOf((await settings()).ledger, namedLedger(url, flags, env));
      const { serverPlace } = await import("./ledger-server.ts");
      return withMovableLedger(serverPlace(server, parts), work);
    },
    /** Warns if this machine's ledger file has operations that a ledger on a server does not know. */
    warnIfUnmoved: async (environment: string, server: string) => {
      const failure = await unmovedBeside(parts, environment, server).catch(onlyFailure);
      if (failure) parts.notice(whyAndHint(failure), failure.reason);
    },
  };
}

function openersOf(parts: RunParts, { settings }: ConfigAccess, ui: Pick<Ui, "confirm">) {
  const { host } = parts;
  const ownFile = onceMade(async () => {
    const path = ledgerFile(host);
    rejectNetworkFileSystem(path, host.mounts());
    await requireLedger(path, host);
    return path;
  });
  const openAt = async (server: LedgerSettings, owned: Owned): Promise<Ledger> => {
    const { openServer } = await import("./ledger-server.ts");
    const sends = parts.finishes && "baseUrl" in owned && owned.environment !== "sandbox";
    const confirmUnseen = sends ? confirmerOf(parts, ui) : undefined;
    return openServer(parts, server, owned, recorderOf(owned, parts), confirmUnseen);
  };
  const open = async (owned: Owned, profile?: string): Promise<Ledger> => {
    const { ledger: server } = await settings(profile);
    if (!server) return openFile(parts, owned, await ownFile());
    if (parts.finishes && "baseUrl" in owned) {
      const failure = await unmovedBeside(parts, owned.environment, server.url.value.text);
      if (failure) throw failure;
      const { serverHeadFile } = await import("./ledger-server.ts");
      requirePosition(serverHeadFile(parts.host, server), owned, parts);
    }
    return openAt(server, owned);
  };
  return { open, openAt };
}

/** Why nothing may be sent beside this machine's ledger file; undefined if there is no reason. */
async function unmovedBeside(
  { host, leftMs }: RunParts,
  environment: string,
  server: string,
): Promise<Failure | undefined> {
  const { findUnmoved, unmovedFailure } = await import("../../ledger/move/unmoved.ts");
  const found = await findUnmoved(host.folders, { server, environment }, leftMs);
  return found && unmovedFailure(found, server);
}

function onlyFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

/** From the first intent on, an outcome may have to be recorded after the deadline. */
function noting({ noteIntent }: RunParts, ledger: Ledger): Ledger {
  const change: Ledger["change"] = async (requests) => {
    const answers = await ledger.change(requests);
    noteIntent();
    return answers;
  };
  return { ...ledger, change, ...createSingleChanges(change) };
}

/** Prepares the ledger of the account that the run is for, which may be new to the ledger. */
async function openOwn(
  owned: Account,
  ledger: Ledger,
  parts: RunParts,
  config: ConfigAccess,
): Promise<Ledger> {
  const { notice, closing } = parts;
  const { profiles } = config;
  const { joins, proposed } = owned.ledgerAccount;
  const name = await ledger.account();
  const isNamed = Object.values(owned.ledgerAccount).some((one) => one !== undefined);
  if (!isNamed && !isLocalSandbox(owned) && !(await ledger.isAccountStored()))
    notice(
      `This API key is new to the ledger: its operations are recorded in a new account, ${name}. To use another account, set LENDEN_ACCOUNT.`,
    );
  closing.push(async () => {
    const isStored = proposed === undefined || joins !== undefined || isLocalSandbox(owned);
    if (isStored || !(await ledger.isAccountStored())) return;
    // At its first use a profile stores the account of its keys. Otherwise the next key would get a new
    // account; the guards of production see both.
    const account = await ledger.account();
    await profiles.change((now) => withAccount(now, proposed, account)).catch(() => {});
  });
  return rememberingLimits(owned, ledger, parts, config);
}

/** At the end of the run, the profile stores that its environment had limits, if the run read some. */
function rememberingLimits(
  { environment, hadLimits, name }: Owned,
  ledger: Ledger,
  { closing }: Pick<RunParts, "closing">,
  { profiles }: ConfigAccess,
): Ledger {
  closing.push(async () => {
    if (environment !== "production" || hadLimits || !ledger.limits.wereSet()) return;
    await profiles.change((now) => withLimits(now, name)).catch(() => {});
  });
  return ledger;
}

/** The API's ID of the newest operation of a kind, `@last`, or the one before it, `@2`. */
async function idAt(kind: Resource, typed: string, ledger: Ledger): Promise<string> {
  const place = placeIn(typed);
  if (place === undefined)
    throw usage([
      `${JSON.stringify(typed)} is not a valid ID. @last is the newest in the ledger, @2 the one before it.`,
    ]);
  let left = place;
  let passed: Operation[] = [];
  for await (const one of ledger.list(kind)) {
    passed.push(one);
    const counts = mayExist(one) && !isTest(one) && !isImported(one);
    // The user may mean this one: an older one must not be refunded or cancelled instead.
    if (counts && one.remoteId === null) throw unknownPlace(typed, one);
    if (counts) left -= 1;
    const isFound = left === 0;
    if (!isFound && passed.length < comparedAtOnce) continue;
    // One that does not count may have been edited, and is meant.
    await ledger.assertRecorded(passed);
    if (isFound) return one.remoteId ?? "";
    passed = [];
  }
  const what = place === 1 ? `no ${kind} yet` : `fewer than ${place} ${kind}s`;
  throw new Failure("ledger.not-found", `This account has ${what} in the ledger.`, {
    hint: `To list the ${kind}s of this account, run 'lenden ${commandGroup(kind)} list'.`,
  });
}

const comparedAtOnce = 500;

/** True for an operation that created a record, or may have. */
function mayExist({ state }: Operation): boolean {
  return state !== "NOT_SENT" && state !== "REFUSED";
}

function unknownPlace(typed: string, { kind, id, reference, createdAt }: Operation): Failure {
  const name = reference ?? id;
  return new Failure(
    "ledger.newest-unknown",
    `Cannot use ${typed}: ${kind} ${name} of ${formatTime(createdAt)} has no ID, because its outcome is unknown.`,
    {
      hint: `Run 'lenden ledger resolve ${inCommand(name)}' first, or use the ID of another ${kind}.`,
      operation: name,
    },
  );
}

/** @throws Failure `internal` if the ledger cannot be used, or was lost; nothing was sent then (P7) */
async function openFile(parts: RunParts, owned: Owned, path: string): Promise<Ledger> {
  const { host, notice, closing } = parts;
  const isFile = path !== ":memory:";
  const opened = await openDatabase(path, parts.leftMs);
  const headFile = isFile ? headPath(host.folders, path) : undefined;
  const keeper = headFile ? createHeadKeeper(opened, headFile, host.now) : undefined;
  const database = keeper ? withCommitCallback(opened, keeper.committed) : opened;
  try {
    if (isFile) prepareFile(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
  const processLock = isFile ? createProcessLock(database, { ledger: path, now: host.now }) : alone;
  // Before this run records anything itself.
  const warning = keeper?.warning();
  // Each command that sends something needs the lock first, and no other command does.
  let isChecked = false;
  const ownLock = (): string => {
    if (!isChecked && keeper && headFile) {
      const isTrial = owned.environment === "sandbox";
      const lost = isTrial ? undefined : notPersistent(path, host.mounts());
      const failure = keeper.unaccepted() ?? lost;
      if (failure) throw failure;
      const isStored = requirePosition(headFile, owned, parts);
      if (warning && isStored) notice(warning, "ledger.head-lost");
    }
    isChecked = true;
    return processLock.take();
  };
  const ledger = openLedger(database, {
    ...recorderOf(owned, parts),
    acceptedRows: keeper?.accepted()?.rows,
    holder: {
      pid: host.pid,
      machine: host.machine,
      get lock() {
        return ownLock();
      },
    },
    isAlive: ({ lock }) => processLock.isAlive(lock),
    assertSeen: processLock.assertHeld,
  });
  closing.push(async () => {
    const isChanged = database.transactionCount() > 0;
    if (isChanged) keeper?.store();
    try {
      database.close();
    } finally {
      processLock.release();
    }
  });
  // A command that sends fails for this reason; a list would be taken for complete.
  const incomplete = "baseUrl" in owned ? undefined : keeper?.unaccepted();
  if (incomplete) notice(whyAndHint(incomplete));
  if (opened.readOnly?.lacksLog)
    notice(`The ledger ${path} is read-only, and its newest changes cannot be read.`);
  return ledger;
}

/**
 * Production sends nothing if the ledger's position cannot be stored.
 *
 * @returns false if it cannot be stored, of which a sandbox account is warned
 * @throws Failure `ledger.no-position`
 */
function requirePosition(
  file: string,
  { environment }: Owned,
  { host, notice }: RunParts,
): boolean {
  const failure = noPosition(file, host.folders);
  if (!failure) return true;
  if (environment !== "sandbox") throw failure;
  notice(whyAndHint(failure), failure.reason);
  return false;
}

/** Asks before production uses a ledger on a server that this machine has never written to. */
function confirmerOf(
  { command, globals, host, notice }: RunParts,
  { confirm }: Pick<Ui, "confirm">,
) {
  return async (url: string, { server: { system }, events, newestAt }: UnseenLedger) => {
    const age = newestAt === null ? undefined : agoText(newestAt, host.now());
    const time = newestAt === null ? null : `${formatTime(newestAt)}${age ? `, ${age}` : ""}`;
    const where = system === null ? url : `${url} (system identifier ${system})`;
    const has = time === null ? "no events" : `${counted(events, "event")}, the newest of ${time}`;
    const message = `This machine has never used the ledger ${where}, which has ${has}.`;
    if (globals.yes) return notice(message, "ledger.first-use");
    if (command === "mcp")
      throw new Failure("agent.needs-person", message, {
        hint: "A person uses it on this machine first, or adds --yes to the command that starts 'lenden mcp'.",
      });
    await confirm({
      action: "Use a ledger that is new to this machine",
      rows: [
        ["Ledger", url],
        ["System identifier", system],
        ["Events", String(events)],
        ["Newest event", time],
        ["Effect", "lenden finds duplicates of what this ledger has, and of nothing else"],
      ],
    });
  };
}

/** This process, as every ledger records it. */
function recorderOf(owned: Owned, { host, command, scrub, actorOf }: RunParts): Recorder {
  const { user, now } = host;
  const newId = createIds(host);
  const who = { user, command, origin: originOf(host), actor: actorOf() };
  return { owner: ownerOf(owned), ...who, now, newId, scrub };
}

function withAccount(stored: Profiles, name: string, account: string): Profiles {
  const own = findProfile(name, stored);
  if (!own || own.account !== undefined) return stored;
  return { ...stored, profiles: { ...stored.profiles, [name]: { ...own, account } } };
}

/** A production profile whose environment had limits rejects a ledger that has none. */
function withLimits(stored: Profiles, name: string): Profiles {
  const own = findProfile(name, stored);
  if (!own) return stored;
  return { ...stored, profiles: { ...stored.profiles, [name]: { ...own, hadLimits: true } } };
}

/** Creates IDs from blocks of random bytes: a batch needs one for each row, and single reads are slow. */
function createIds({ now, randomBytes }: Host): () => string {
  let bytes = new Uint8Array().values();
  const share = (): number => {
    let next = bytes.next();
    if (next.done) {
      bytes = randomBytes(4096).values();
      next = bytes.next();
    }
    return (next.value ?? 0) / 256;
  };
  return () => `OP${ulid(now(), share)}`;
}

/** The person behind this process, as the operating system and the environment show. */
function originOf({ user, machine, pid, env }: Host): Origin {
  const { LOGNAME: login, SUDO_USER: sudoUser, SSH_CONNECTION: ssh } = env;
  const [sshFrom] = ssh?.split(" ") ?? [];
  return {
    user,
    machine,
    pid,
    ...(login === undefined || login === user ? {} : { login }),
    ...(sudoUser === undefined ? {} : { sudoUser }),
    ...(sshFrom === undefined ? {} : { sshFrom }),
  };
}
