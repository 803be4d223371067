import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { arch, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import type { Host } from "../host.ts";
import { restoreFlags } from "../http/wasm.ts";

/**
 * Keeps what V8 made of the built code in a folder of the user's own, so that the next start need
 * not make it again: a quarter of what a command takes. It only saves time: a folder that cannot be
 * used, or that somebody else could write code into, is left alone.
 */
export function keepCompiled(folder: string, { nodeVersion, pid, onExit }: Host): void {
  if (!isOwn(folder)) return;
  if ("enableCompileCache" in nodeModule && typeof nodeModule.enableCompileCache === "function") {
    nodeModule.enableCompileCache(folder);
    return;
  }
  // Node 20 has none of its own. The names of built files hold a hash of what is in them.
  const nameOf = (file: string) => join(folder, `${basename(file)}.${nodeVersion}.${arch()}`);
  const fresh = new Map<string, Script>();
  const { extensions } = createRequire(import.meta.url);
  extensions[".cjs"] = (module: NodeJS.Module, file: string) => load(module, file, nameOf, fresh);
  onExit(() => keep(fresh, pid));
}

/** Runs a file as Node would, from what was kept of it if V8 still takes that. */
function load(
  module: NodeJS.Module,
  file: string,
  nameOf: (file: string) => string,
  fresh: Map<string, Script>,
): void {
  const kept = nameOf(file);
  const cachedData = readIfWhole(kept);
  const source = nodeModule.wrap(readFileSync(file, "utf8"));
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (!cachedData || script.cachedDataRejected) fresh.set(kept, script);
  const run: unknown = script.runInThisContext();
  if (typeof run !== "function") throw new TypeError(`${file} is no module`);
  run(module.exports, (id: string) => module.require(id), module, file, dirname(file));
}

/** At the end of a run, when V8 has compiled what the run needed. */
function keep(fresh: Map<string, Script>, pid: number): void {
  if (fresh.size === 0) return;
  restoreFlags();
  try {
    for (const [file, script] of fresh) {
      const compiled = script.createCachedData();
      writeFileSync(`${file}.${pid}`, Buffer.concat([digestOf(compiled), compiled]), {
        mode: 0o600,
      });
      renameSync(`${file}.${pid}`, file);
    }
  } catch {
    // The next run tries again.
  }
}

function isOwn(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const own = userInfo().uid;
    // Windows has no such numbers; its folder is below the user's own.
    return own === -1 || (uid === own && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** V8 runs whatever has the right beginning and length: a single bit that is wrong can make it hang. */
function readIfWhole(file: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const compiled = content.subarray(digestBytes);
    return content.subarray(0, digestBytes).equals(digestOf(compiled)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

const digestBytes = 32;

function digestOf(compiled: Buffer): Buffer {
  return hash("sha256", compiled, "buffer");
}
