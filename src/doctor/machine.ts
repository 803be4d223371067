import { X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, readFile } from "node:fs/promises";
import { arch } from "node:os";
import { dirname } from "node:path";
import type { LedgerSettings } from "../config/settings.ts";
import { errorCode, systemReason } from "../domain/error-code.ts";
import { headPath, ledgerPath, serverHeadPath } from "../ledger/head.ts";
import { checkHealth, notPersistent } from "../ledger/health.ts";
import type { FileBeside } from "../ledger/maintenance.ts";
import { noPosition } from "../ledger/position.ts";
import type { ServerHealth } from "../ledger/postgres/health.ts";
import { findCompileCache } from "../platform/compile-cache.ts";
import type { Exposure } from "../platform/files.ts";
import { type Folders, userNumber } from "../platform/host.ts";
import {
  type CheckContext,
  check,
  type Finding,
  failed,
  passed,
  skipped,
  type Verdict,
  warning,
} from "./finding.ts";

/** Checks this machine: Node, directories, ledger, CA certificates. */
export async function* checkMachine(context: CheckContext): AsyncIterable<Finding> {
  const { host, version, config } = context;
  const { folders, platform, env } = host;
  yield await check("lenden", () => passed(`lenden ${version} runs on ${platform} ${arch()}.`));
  yield await check("node", () => nodeVersion(host.nodeVersion));
  yield await check("config", () => configDirectory(folders, platform));
  yield await check("data", () => directory(folders.data, "LENDEN_DATA_DIR", platform));
  // The check of the profile reports settings that cannot be read.
  const { ledger: server } = await config.settings().catch(() => ({ ledger: undefined }));
  if (server) yield* checkLedgerServer(server, context);
  else {
    yield await check("ledger", () => ledger(context));
    const { environment } = await config.recordsOwner().catch(() => ({ environment: undefined }));
    yield await check("ledger-storage", () => storage(host, environment));
  }
  yield await check("ledger-position", () =>
    position(
      server
        ? serverHeadPath(folders, server.url.value.ledger)
        : headPath(folders, ledgerPath(folders.data)),
      folders,
    ),
  );
  yield await check("compile-cache", () => compileCache(host));
  yield await check("ca-certificates", () => caCertificates(env.NODE_EXTRA_CA_CERTS));
}

function nodeVersion(version: string): Verdict {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number);
  return major > 20 || (major === 20 && minor >= 19)
    ? passed(`Node ${version} is supported.`)
    : failed(`Node ${version} is too old.`, "Install Node 20.19 or later.");
}

/** One that cannot be written is no problem if the position of the ledger is stored in `LENDEN_STATE_DIR`. */
async function configDirectory(folders: Folders, platform: string): Promise<Verdict> {
  const { config, state } = folders;
  const found = await directory(config, "LENDEN_CONFIG_DIR", platform);
  if (found.state !== "failed" || state === undefined || !(await isReadable(config))) return found;
  const position = headPath(folders, ledgerPath(folders.data));
  if (dirname(position) !== state || noPosition(position, folders)) return found;
  return passed(`${config} cannot be written. The position of the ledger is stored in ${state}.`);
}

/** True also for a directory that does not exist. */
async function isReadable(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isDirectory()) return false;
    await access(path, constants.R_OK | constants.X_OK);
    return true;
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
  }
}

/** Its files are checked by whoever opens them. */
async function directory(path: string, variable: string, platform: string): Promise<Verdict> {
  const hint = `Change its permissions, or set ${variable} to another directory.`;
  try {
    const found = await lstat(path);
    if (!found.isDirectory()) return failed(`${path} is a link or a file.`, hint);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    // Windows has no modes; there, a user's directories are private.
    const isPrivate = platform === "win32" || (found.mode & 0o077) === 0;
    return isPrivate
      ? passed(`Only you can read ${path}.`)
      : warning(`Other users can read ${path}.`, `Run: chmod -R go= '${path}'`);
  } catch (error) {
    if (errorCode(error) === "ENOENT")
      return passed(`${path} does not exist yet. lenden creates it when needed.`);
    return failed(`${path} cannot be used: ${systemReason(error)}.`, hint);
  }
}

function storage(
  { folders, mounts }: CheckContext["host"],
  environment: string | undefined,
): Verdict {
  const failure = notPersistent(ledgerPath(folders.data), mounts());
  if (!failure) return passed("The ledger is not on a layer that is lost with a container.");
  if (environment !== "sandbox") throw failure;
  return warning(`${failure.message} In production, nothing is sent.`, failure.details.hint ?? "");
}

/** Where the newest event of the ledger is stored, so that an older copy is noticed. */
function position(file: string, folders: Folders): Verdict {
  const failure = noPosition(file, folders);
  if (failure) throw failure;
  return passed(`The position of the ledger is stored in ${dirname(file)}.`);
}

async function ledger({ host: { folders, mounts }, leftMs }: CheckContext): Promise<Verdict> {
  const path = ledgerPath(folders.data);
  const health = await checkHealth(path, headPath(folders, path), { mounts: mounts(), leftMs });
  if (!health) return passed("No ledger exists yet. lenden creates it before it moves money.");
  const { faults, uncertainCount, containsHead, isModified, bytes } = health;
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  const accept = "To accept it as it is, run 'lenden ledger check --accept'.";
  if (faults.length > 0) {
    return failed(
      `${path} is damaged: ${faults.join("; ")}.`,
      "To restore a backup, run 'lenden ledger restore <file>'. Send nothing before: lenden could pay twice.",
    );
  }
  if (!containsHead) {
    return failed(
      `${path} was truncated, rolled back or replaced since lenden last wrote it.`,
      `To restore a backup, run 'lenden ledger restore <file>'. ${accept}`,
    );
  }
  if (isModified)
    return failed(
      `${path} was modified: 'lenden ledger check' shows what.`,
      `To restore a backup, run 'lenden ledger restore <file>'. ${accept}`,
    );
  if (uncertainCount === 0)
    return passed(
      `The ledger is intact (${size}). No outcome is unknown. Its limits bind all but the owner of the file.`,
    );
  return warning(
    `The ledger is intact (${size}). Operations with an unknown outcome: ${uncertainCount}.`,
    "Run 'lenden ledger resolve'.",
  );
}

/** Also each start checks it: the cache is not used if others could have changed a part of it. */
function compileCache({ folders, keepsCompiled, nodeVersion }: CheckContext["host"]): Verdict {
  if (!keepsCompiled || nodeVersion.startsWith("v20."))
    return passed("lenden caches no compiled code on this Node.");
  const { directory, trouble } = findCompileCache(folders.cache, nodeVersion, userNumber());
  if (!trouble) return passed(`Only you can change the compiled code in ${directory}.`);
  const { path = directory, why } = trouble;
  return warning(
    `The compiled code in ${directory} is not used, because ${exposures[why](path)}. Each command starts more slowly.`,
    why === "unusable"
      ? `Make ${directory} writable, or set XDG_CACHE_HOME to another directory.`
      : `Check who wrote it. Then delete ${directory}: lenden creates it again.`,
  );
}

const exposures: Record<Exposure | "unusable", (path: string) => string> = {
  link: (path) => `${path} is a symbolic link`,
  "other-owner": (path) => `${path} belongs to another user`,
  "others-can-write": (path) => `others can write to ${path}`,
  unusable: () => "the directory cannot be used",
};

/** Node ignores a file that it cannot use, with a warning on stderr only. */
async function caCertificates(file: string | undefined): Promise<Verdict> {
  if (file === undefined) return passed("Node's own CA certificates are used.");
  try {
    new X509Certificate(await readFile(file));
    return passed(`CA certificates of Node and of ${file} are used.`);
  } catch {
    return failed(
      `NODE_EXTRA_CA_CERTS names ${file}, which is not a readable file of certificates.`,
      "Name a PEM file of certificates, or unset the variable.",
    );
  }
}

/** Checks a ledger on PostgreSQL; without a connection only the first check says why. */
async function* checkLedgerServer(
  { url: { value: url } }: LedgerSettings,
  { ledger }: CheckContext,
): AsyncIterable<Finding> {
  let health: ServerHealth | undefined;
  yield await check("ledger", async () => {
    health = await (await ledger.maintenance()).serverHealth?.();
    return health ? content(health) : skipped("The ledger is a file of this machine.");
  });
  yield await check("ledger-file", async () =>
    fileBeside(await (await ledger.maintenance()).fileBeside?.()),
  );
  const found = health;
  const checks: Record<string, (health: ServerHealth) => Verdict> = {
    "ledger-connection": ({ serverVersion }) => {
      const version = `${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000}`;
      const how = url.isLocal ? "on this machine, without TLS" : "over TLS, verified";
      return passed(`PostgreSQL ${version} responds ${how}: ${url.text}.`);
    },
    "ledger-identity": identity,
    "ledger-role": role,
    "ledger-clock": clock,
    "ledger-durability": durability,
  };
  for (const [name, examine] of Object.entries(checks))
    yield found
      ? await check(name, () => examine(found))
      : { check: name, ...skipped("Not checked, because the ledger cannot be reached.") };
}

function content({ unaccepted, uncertainCount }: ServerHealth): Verdict {
  if (unaccepted)
    return failed(unaccepted.message, unaccepted.details.hint ?? "Run 'lenden ledger check'.");
  const contained = "The ledger contains all that this machine has seen.";
  if (uncertainCount === 0) return passed(`${contained} No outcome is unknown.`);
  return warning(
    `${contained} Operations with an unknown outcome: ${uncertainCount}.`,
    "Run 'lenden ledger resolve'.",
  );
}

function fileBeside(file: FileBeside | undefined): Verdict {
  if (!file) return passed("The ledger has everything that this machine sent.");
  const { path, failure } = file;
  if (failure) throw failure;
  return warning(
    `${path} was not moved to the ledger. A person accepted that.`,
    "To find duplicates of its operations too, run 'lenden ledger move <url>'.",
  );
}

/** A server need not tell everything: then a copy that differs only there is not noticed. */
function identity({ told }: ServerHealth): Verdict {
  const [known, unknown] = [true, false].map((isTold) =>
    parts.filter(([part]) => (told[part] !== null) === isTold).map(([, text]) => text),
  );
  const texts = [
    ...(known?.length ? [`The server tells ${known.join(", ")}.`] : []),
    ...(unknown?.length
      ? [`The server does not tell ${unknown.join(", ")}, so a copy may be noticed late.`]
      : ["A restored, recreated or replaced ledger is noticed."]),
  ];
  return passed(texts.join(" "));
}

const parts = [
  ["system", "its system identifier"],
  ["database", "the number of the database"],
  ["head", "the number of the table lenden.head"],
] as const;

function role({ login, mayWrite, mayChangeEvents }: ServerHealth): Verdict {
  if (!mayWrite)
    return warning(
      `The login ${login} may only read the ledger.`,
      `To send with it, ask the database administrator for 'GRANT lenden_writer TO ${login}'.`,
    );
  return mayChangeEvents
    ? warning(
        `The login ${login} may change and delete events.`,
        "Use a login that is only a member of lenden_writer, not the owner of the tables.",
      )
    : passed(`The login ${login} may add events, and not change them.`);
}

/** Larger differences confuse the order of events and the pauses before payouts are sent again. */
const toleratedMs = 5_000;

function clock({ serverNowMs, localNowMs }: ServerHealth): Verdict {
  const offMs = localNowMs - serverNowMs;
  const seconds = Math.round(Math.abs(offMs) / 1_000);
  if (seconds === 0) return passed("This machine's clock agrees with the server's.");
  const message = `This machine's clock is ${seconds} s ${offMs > 0 ? "ahead of" : "behind"} the server's.`;
  return Math.abs(offMs) <= toleratedMs
    ? passed(message)
    : warning(message, "Set the clocks of all machines with NTP.");
}

function durability(facts: ServerHealth): Verdict {
  const problems = [
    ...(facts.isReplica ? ["it is a replica"] : []),
    ...(facts.isReadOnly ? ["it is read-only"] : []),
    ...(facts.isDurable ? [] : ["fsync is off"]),
  ];
  if (problems.length > 0)
    return failed(
      `Nothing is sent with this server: ${problems.join("; ")}.`,
      "Use the primary server with fsync=on.",
    );
  return passed(`The server stores each commit (synchronous_commit=${facts.synchronousCommit}).`);
}
