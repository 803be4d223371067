import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { arch, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";
import { underUsualFlags } from "../engine-flags.ts";
import type { Host } from "../host.ts";
import { makeFolder } from "../make-folder.ts";

/**
 * Keeps what V8 made of the built code in a folder of the user's own, so that the next start need
 * not make it again: a quarter of what a command takes. It only saves time: a folder that cannot be
 * used, or that somebody else could write code into, is left alone.
 */
export function keepCompiled(folder: string, { nodeVersion, pid, now, onExit }: Host): void {
  if (!isAbsolute(folder) || !isOwn(folder)) return;
  if ("enableCompileCache" in nodeModule && typeof nodeModule.enableCompileCache === "function") {
    nodeModule.enableCompileCache(folder);
    return;
  }
  // Node 20 has none of its own. The names of built files hold a hash of what is in them.
  const nameOf = (file: string) => join(folder, `${basename(file)}.${nodeVersion}.${arch()}`);
  const fresh = new Map<string, Compiled>();
  const { extensions } = createRequire(import.meta.url);
  extensions[".cjs"] = (module: NodeJS.Module, file: string) => load(module, file, nameOf, fresh);
  onExit(() => {
    if (fresh.size === 0) return;
    for (const [kept, compiled] of fresh) underUsualFlags(() => keep(kept, compiled, pid));
    forgetOld(folder, now());
  });
}

/** A file that V8 compiled in this run. */
interface Compiled {
  source: Buffer;
  script: Script;
}

/** Runs a file as Node would, from what was kept of it if V8 still takes that. */
function load(
  module: NodeJS.Module,
  file: string,
  nameOf: (file: string) => string,
  fresh: Map<string, Compiled>,
): void {
  const kept = nameOf(file);
  const source = readFileSync(file);
  const cachedData = readIfWhole(kept, source);
  const options = { filename: file, ...(cachedData && { cachedData }) };
  const script = underUsualFlags(() => new Script(nodeModule.wrap(source.toString()), options));
  if (!cachedData || script.cachedDataRejected) fresh.set(kept, { source, script });
  const run: unknown = script.runInThisContext();
  if (typeof run !== "function") throw new TypeError(`${file} is no module`);
  run(module.exports, (id: string) => module.require(id), module, file, dirname(file));
}

/** At the end of a run, when V8 has compiled what the run needed. */
function keep(kept: string, { source, script }: Compiled, pid: number): void {
  const made = `${kept}.${pid}`;
  try {
    const compiled = script.createCachedData();
    const content = Buffer.concat([digestOf(compiled, source), compiled]);
    writeFileSync(made, content, { mode: 0o600 });
    renameSync(made, kept);
  } catch {
    // The next run tries again.
    rmSync(made, { force: true });
  }
}

const keptForMs = 30 * 24 * 60 * 60_000;

/** Of versions that are gone nobody asks again; what is still in use is kept anew. */
function forgetOld(folder: string, nowMs: number): void {
  try {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { name } of files) {
      const file = join(folder, name);
      if (nowMs - statSync(file).mtimeMs > keptForMs) rmSync(file, { force: true });
    }
  } catch {
    // Another run was at it.
  }
}

function isOwn(folder: string): boolean {
  try {
    makeFolder(folder, 0o700);
    const { uid, mode } = statSync(folder);
    const own = userInfo().uid;
    // Windows has no such numbers; its folder is below the user's own.
    return own === -1 || (uid === own && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/**
 * V8 runs whatever has the right beginning and length: a single bit that is wrong can make it hang,
 * and of the source it looks at the length alone.
 */
function readIfWhole(file: string, source: Buffer): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const compiled = content.subarray(digestBytes);
    const isWhole = content.subarray(0, digestBytes).equals(digestOf(compiled, source));
    return isWhole ? compiled : undefined;
  } catch {
    return undefined;
  }
}

const digestBytes = 32;

function digestOf(compiled: Buffer, source: Buffer): Buffer {
  return createHash("sha256").update(compiled).update(source).digest();
}
