import type { OpenEngine } from "./engines.ts";
import { makePrivateFile } from "./private-file.ts";

/** SQLite asks the operating system in the same way on all of them, and within one process too. */
export function lockFile(path: string, open: OpenEngine): (() => void) | undefined {
  makePrivateFile(path);
  const engine = open(path);
  try {
    engine.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return () => engine.close();
  } catch {
    engine.close();
    return undefined;
  }
}
