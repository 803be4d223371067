import { readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Exposure, firstExposed, makeDirectory } from "./files.ts";

export interface CompileCache {
  directory: string;
  /** Why the cache is not used. Without a path, it cannot be created or read. */
  trouble?: { path?: string; why: Exposure | "unusable" };
}

/**
 * Node's own compile cache, a quarter of what a command takes to start. Whoever can write to it can run code
 * as this user, so all that this Node may load from it has to be this user's alone. Missing directories are
 * created.
 *
 * @param cache the directory of lenden's caches
 * @param user of `userNumber`
 */
export function findCompileCache(
  cache: string,
  nodeVersion: string,
  user: number | undefined,
): CompileCache {
  const directory = join(cache, "compile-cache");
  if (!isAbsolute(cache)) return { directory, trouble: { why: "unusable" } };
  try {
    const trouble = firstExposed(entriesOf(cache, directory, nodeVersion), user);
    return { directory, ...(trouble ? { trouble } : {}) };
  } catch {
    return { directory, trouble: { why: "unusable" } };
  }
}

/** Each version of Node has its own directory, such as `v24.1.0-x64-964aae3f-1000`. */
function* entriesOf(cache: string, directory: string, nodeVersion: string): Iterable<string> {
  // Also the parent: anyone who can write into it could put another directory in this one's place.
  for (const own of [cache, directory]) {
    makeDirectory(own, 0o700);
    yield own; // Nothing is created behind a link.
  }
  for (const version of readdirSync(directory)) {
    const own = join(directory, version);
    yield own;
    if (version.startsWith(`${nodeVersion}-`))
      for (const file of readdirSync(own)) yield `${own}/${file}`;
  }
}
