// A PostgreSQL server on this machine, on a unix socket, and a proxy that makes it far away.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { launcher, output } from "./measure.js";

/** Where Debian installs PostgreSQL. */
const programs = "/usr/lib/postgresql";

/**
 * A server in a temporary directory, with a template of an empty ledger.
 *
 * @param {string} program the lenden that creates the ledger
 * @param {string[]} settings
 */
export async function startCluster(program = launcher, settings = []) {
  const [version = ""] = readdirSync(programs).toSorted().reverse();
  const bin = join(programs, version, "bin");
  const socket = mkdtempSync(join(tmpdir(), "lenden-pg-"));
  chmodSync(socket, 0o777);
  // PostgreSQL does not run as root.
  const as =
    process.getuid?.() === 0
      ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
      : [];
  const run = (/** @type {string[]} */ ...line) => {
    const [command = "", ...args] = [...as, ...line];
    return execFileSync(command, args, {
      cwd: "/",
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
  };
  const data = join(socket, "data");
  run(join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync");
  const [command = "", ...args] = [
    ...[...as, join(bin, "postgres"), "-D", data, "-k", socket],
    ...["listen_addresses=", "max_connections=50", ...settings].flatMap((one) => ["-c", one]),
  ];
  const server = spawn(command, args, { stdio: "ignore", cwd: "/" });
  const stop = () => {
    server.kill("SIGQUIT");
    rmSync(socket, { recursive: true, force: true });
  };
  process.once("exit", stop);
  const psql = (/** @type {string} */ database, /** @type {string} */ sql) =>
    run(
      join(bin, "psql"),
      "-h",
      socket,
      "-U",
      "postgres",
      "-d",
      database,
      "-v",
      "ON_ERROR_STOP=1",
      "-c",
      sql,
    );
  for (let tries = 0; ; tries += 1) {
    try {
      psql("postgres", "CREATE DATABASE template");
      break;
    } catch (error) {
      if (tries === 100) throw error;
      await delay(100);
    }
  }
  const urlIn = (/** @type {string} */ folder, /** @type {string} */ database) =>
    `postgres://postgres@${encodeURIComponent(folder)}/${database}`;
  output([process.execPath, program, "ledger", "init", urlIn(socket, "template")]);
  let count = 0;
  return {
    socket,
    stop,
    /** Milliseconds of CPU of all connections that ended, in steps of 10. */
    cpu: async () => {
      await delay(50);
      const stat = readFileSync(`/proc/${server.pid}/stat`, "utf8");
      const [user = 0, system = 0] = stat
        .slice(stat.lastIndexOf(")"))
        .split(" ")
        .slice(14, 16)
        .map(Number);
      return (user + system) * 10;
    },
    /** The URL of a new ledger. */
    create: () => {
      count += 1;
      psql("postgres", `CREATE DATABASE ledger_${count} TEMPLATE template`);
      return urlIn(socket, `ledger_${count}`);
    },
    urlOf: (/** @type {string} */ url, /** @type {string} */ folder) =>
      urlIn(folder, url.slice(url.lastIndexOf("/") + 1)),
    run: (/** @type {string} */ url, /** @type {string} */ sql) => {
      for (const statement of sql.split(";").filter((text) => text.trim() !== ""))
        psql(url.slice(url.lastIndexOf("/") + 1), statement);
    },
  };
}

/** A socket in front of the server's, in a process of its own: a measured command blocks this one. @param {string} socket @param {number} delayMs */
export async function startSlowProxy(socket, delayMs) {
  const folder = mkdtempSync(join(tmpdir(), "lenden-slow-"));
  const name = ".s.PGSQL.5432";
  const script = join(import.meta.dirname, "slow-proxy.js");
  const args = [script, join(folder, name), join(socket, name), `${delayMs}`];
  const proxy = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(proxy.stdout, "data");
  let trips = 0;
  proxy.stdout.on("data", (/** @type {Buffer} */ dots) => {
    trips += dots.length;
  });
  return {
    folder,
    /** How often clients waited for the server. */
    countTrips: async () => {
      await delay(100);
      return trips;
    },
    stop: () => {
      proxy.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
