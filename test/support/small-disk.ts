import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { scratchFolder } from "./helpers.ts";

/** Only root may mount; elsewhere tests that need it are skipped, and say so. */
export const canMount = tryMount();

/** A disk of its own, so small that it is soon full. */
export function mounted(size: string): string {
  const folder = scratchFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "lenden-test", folder]);
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
  return folder;
}

/** @returns makes room again */
export function fill(folder: string): () => void {
  const path = join(folder, "filler");
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(512));
  } catch {
    closeSync(file);
  }
  return () => rmSync(path);
}

function tryMount(): boolean {
  const folder = scratchFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "lenden-test", folder], {
      stdio: "ignore",
    });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  }
}
