import nodeModule from "node:module";
import { isAbsolute, join } from "node:path";
import { isOwnDirectory, makeDirectory } from "../../platform/files.ts";

/**
 * Node's own compile cache, a quarter of what a command takes to start; Node 20 has none. Whoever
 * can write into its directory can run code as this user, so only a private one is used.
 *
 * @param cache the directory of lenden's caches
 */
export function enableCompileCache(cache: string): void {
  if (!("enableCompileCache" in nodeModule)) return;
  if (typeof nodeModule.enableCompileCache !== "function" || !isAbsolute(cache)) return;
  const directory = join(cache, "compile-cache");
  // Also the parent: anyone who can write into it could put another directory in this one's place.
  if (isPrivate(cache) && isPrivate(directory)) nodeModule.enableCompileCache(directory);
}

/** Creates the directory if it is missing; without a private one, lenden starts without a cache. */
function isPrivate(directory: string): boolean {
  try {
    makeDirectory(directory, 0o700);
    return isOwnDirectory(directory);
  } catch {
    return false;
  }
}
