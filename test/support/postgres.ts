import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, type ClientConfig } from "pg";
import { onTestFinished, test } from "vitest";
import { errorCode } from "../../src/domain/error-code.ts";
import { type AtEnd, scratchFolder, until } from "./helpers.ts";
import { closedPort } from "./server.ts";

const programs = newestPrograms();
/** A test without a server is skipped, and fails in the gate, which installs one. */
export const isSkipped = programs === undefined && process.env.CI === undefined;
export const serverTest = test.skipIf(isSkipped);
export const poolerTest = test.skipIf(
  isSkipped || (!existsSync("/usr/sbin/pgbouncer") && process.env.CI === undefined),
);

/** The server does not run as root: as its package's user then, who can enter the temporary directory. */
const isRoot = process.getuid?.() === 0;
const superuser = "postgres";

interface ClusterOptions {
  /** Lines of postgresql.conf, after the usual ones. */
  settings?: Record<string, string>;
  /** Lines of pg_hba.conf; default: every connection from this machine is trusted. */
  access?: string[];
  /** Listens on a free port of 127.0.0.1 too. */
  hasPort?: boolean;
  /** The server's certificate. */
  tls?: { key: string; cert: string };
  /** A data directory that `program` made; default: a new one. */
  data?: string;
}

/** A PostgreSQL server in a temporary directory. */
export interface Cluster {
  /** The directory of its socket, and of what a test adds. */
  folder: string;
  data: string;
  port: number;
  /** A database on the socket, as lenden is given it. */
  url(database: string, user?: string): string;
  /** A connection of the superuser, unless another login is given. */
  open(database: string, given?: ClientConfig): Promise<Client>;
  /** The same until the test ends. */
  connect(database: string, given?: ClientConfig): Promise<Client>;
  /** Runs statements as the superuser; the rows of the last one. */
  run(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** A new database, perhaps a copy of one that has no connections. */
  create(template?: string): Promise<string>;
  /** Runs a program of the server's package as the user of the server. */
  program(name: string, ...args: string[]): Promise<string>;
  /** Kills the server with all its processes, and leaves its files as they are. */
  kill(): Promise<void>;
  /** Starts it again, with these settings if any are given. */
  start(settings?: Record<string, string>): Promise<void>;
  remove(): Promise<void>;
}

let shared: Promise<Cluster> | undefined;

/** The cluster of all tests of a worker, which break nothing in it. It ends with the worker. */
export function sharedCluster(): Promise<Cluster> {
  shared ??= openCluster();
  return shared;
}

/** A cluster that a test may break. */
export async function startCluster(
  options: ClusterOptions = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Cluster> {
  const cluster = await openCluster(options);
  atEnd(() => cluster.remove());
  return cluster;
}

async function openCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const folder = serverFolder();
  const data = options.data ?? join(folder, "data");
  if (!options.data) await program("cp", "-a", await initialized(), data);
  const port = options.hasPort ? await closedPort() : 5432;
  const write = (name: string, lines: string[]): void => {
    const path = join(data, name);
    writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
    giveToServer(path);
  };
  if (options.access) write("pg_hba.conf", options.access);
  if (options.tls) {
    write("server.key", [options.tls.key]);
    write("server.crt", [options.tls.cert]);
  }
  const configure = (settings: Record<string, string> = {}): void => {
    const all = {
      unix_socket_directories: folder,
      listen_addresses: options.hasPort ? "127.0.0.1" : "",
      port: `${port}`,
      ssl: options.tls ? "on" : "off",
      // In the data directory, where a killed server leaves nothing behind.
      dynamic_shared_memory_type: "mmap",
      shared_buffers: "16MB",
      ...options.settings,
      ...settings,
    };
    write(
      "postgresql.conf",
      Object.entries(all).map(([name, value]) => `${name} = '${value}'`),
    );
  };
  const open: Cluster["open"] = async (database, given = {}) => {
    const login = { host: folder, port, user: superuser, password: "", database };
    const client = new Client({ ...login, ...given });
    // A test may end the server or the connection.
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const run: Cluster["run"] = async (sql, database = superuser) => {
    const client = await open(database);
    try {
      return lastRows(await client.query(sql));
    } finally {
      await client.end();
    }
  };
  let running: Server | undefined;
  const start: Cluster["start"] = async (settings) => {
    configure(settings);
    running = startServer(folder, data);
    const log = () => readFileSync(join(folder, "log"), "utf8");
    await until(() => {
      if (running?.exitCode !== null) throw new Error(`the server ended:\n${log()}`);
      return run("SELECT 1").then(
        () => true,
        () => false,
      );
    });
  };
  let count = 0;
  await start();
  return {
    folder,
    data,
    port,
    url: (database, user = superuser) =>
      `postgres://${user}@${encodeURIComponent(folder)}:${port}/${database}`,
    open,
    connect: async (database, given) => {
      const client = await open(database, given);
      onTestFinished(() => client.end().catch(() => {}));
      return client;
    },
    run,
    create: async (template = "template0") => {
      count += 1;
      const name = `test_${count}`;
      // Copying files is faster than writing their content to the log.
      await run(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
      return name;
    },
    program: (name, ...args) => program(join(found(), name), ...args),
    kill: async () => {
      const [pid] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      process.kill(Number(pid), "SIGKILL");
      await stopped(running);
    },
    start,
    remove: async () => {
      await stopped(running);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The rows of the last of some statements. */
export function lastRows(result: unknown): Record<string, unknown>[] {
  const last: { rows?: Record<string, unknown>[] } = [result].flat().at(-1) ?? {};
  return last.rows ?? [];
}

type Server = ReturnType<typeof startServer>;

/** Starts a server that ends as soon as this process ends or closes the pipe, whatever happens to it. */
function startServer(folder: string, data: string) {
  const [command = "", ...args] = asServer([join(found(), "postgres"), "-D", data]);
  const script =
    'log=$1; shift; "$@" >>"$log" 2>&1 </dev/null & server=$!; read _; kill -QUIT $server; wait $server';
  const guard = spawn("sh", ["-c", script, "sh", join(folder, "log"), command, ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // Ctrl-C is for the tests alone.
    detached: true,
    env: serverEnv,
    cwd: folder,
  });
  guard.unref();
  return guard;
}

async function stopped(server: Server | undefined): Promise<void> {
  if (!server || server.exitCode !== null) return;
  server.ref();
  const end = once(server, "exit");
  server.stdin.end();
  await end;
}

/** The data directory of a new cluster. The first worker of a run creates it, and every cluster is a copy. */
async function initialized(): Promise<string> {
  const folder = join(tmpdir(), "lenden-server");
  const [data, ready] = [join(folder, "data"), join(folder, "ready")];
  if (isCreated(folder)) {
    giveToServer(folder);
    const options = ["-A", "trust", "-U", superuser, "-E", "UTF8", "--locale=C", "--no-sync"];
    // A small log is copied faster.
    await program(join(found(), "initdb"), "-D", data, ...options, "--wal-segsize=1");
    writeFileSync(ready, "");
  }
  await until(() => existsSync(ready));
  return data;
}

/** False if another worker created it. */
function isCreated(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

const serverEnv = { PATH: process.env.PATH, LC_ALL: "C" };

async function program(name: string, ...args: string[]): Promise<string> {
  const [command = "", ...all] = asServer([name, ...args]);
  const { stdout } = await promisify(execFile)(command, all, { cwd: "/", env: serverEnv });
  return stdout;
}

/** A command that runs as the user of the server. */
export function asServer(command: string[]): string[] {
  if (!isRoot) return command;
  return ["setpriv", `--reuid=${superuser}`, `--regid=${superuser}`, "--clear-groups", ...command];
}

/** A directory of the server's user. Its path is short enough for a socket. */
function serverFolder(): string {
  const folder = scratchFolder();
  giveToServer(folder);
  return folder;
}

function giveToServer(path: string): void {
  if (isRoot) chownSync(path, ...userOfServer());
}

function userOfServer(): [number, number] {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${superuser}:`));
  const [, , user, group] = line?.split(":") ?? [];
  if (!line) throw new Error(`there is no user ${superuser}: install the package postgresql`);
  return [Number(user), Number(group)];
}

function found(): string {
  if (programs) return programs;
  throw new Error("there is no PostgreSQL server: install the package postgresql");
}

/** Debian's directory of the newest server. */
function newestPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  try {
    const newest = readdirSync(root).sort((a, b) => Number(b) - Number(a))[0];
    const folder = join(root, newest ?? "", "bin");
    return readdirSync(folder).includes("initdb") ? folder : undefined;
  } catch {
    return undefined;
  }
}
