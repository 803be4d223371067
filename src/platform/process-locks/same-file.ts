import { lstatSync } from "node:fs";
import { errorCode } from "../../domain/error-code.ts";
import type { Failure } from "../../domain/failure.ts";

interface Watching {
  now(): number;
  /** What to say where it is gone. */
  lost(): Failure;
}

/** A look at a file costs little, and not nothing: a batch asks for each row. */
const seenForMs = 50;

/**
 * A file that others find by its name, and that this process has open: once it is taken away, or another
 * one has its name, nobody sees any longer what is done in it.
 *
 * @returns throws `lost` where the file of this name is not the one that it is now
 */
export function watchSameFile(path: string, { now, lost }: Watching): () => void {
  const first = inodeOf(path);
  let seenAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = now();
    if (Math.abs(nowMs - seenAtMs) < seenForMs) return;
    const inode = inodeOf(path);
    if (inode === undefined || inode !== first) throw lost();
    seenAtMs = nowMs;
  };
}

/** Undefined only where there is certainly none. */
function inodeOf(path: string): number | undefined {
  try {
    return lstatSync(path).ino;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
