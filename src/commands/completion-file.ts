import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { makeDirectory } from "../platform/files.ts";
import type { Host } from "../platform/host.ts";
import { placeOf, type Shell, scriptNames } from "./completion-places.ts";

/** What came of installing, or of taking it away. */
export interface Installed {
  shell: Shell;
  file: string;
  state: "written" | "there already" | "removed" | "not there";
  /** What the person does next: sentences and lines. */
  next: string[];
}

/** In the first lines of each script: whose file it is. */
const mark = "# The completion of lenden for ";

/** The script, as the package holds it. */
export function scriptOf(shell: Shell, { shipped }: Host): string {
  return shipped(`completions/${scriptNames[shell]}`);
}

/** Writes the script to the person's own place for it; a file that is not lenden's is left alone. */
export function install(shell: Shell, host: Host): Installed {
  const { file, next } = placeOf(shell, host);
  const script = scriptOf(shell, host);
  const before = ownText(file);
  if (before === script) return { shell, file, state: "there already", next };
  carefully(file, () => {
    makeDirectory(dirname(file));
    writeFileSync(`${file}.new`, script);
    renameSync(`${file}.new`, file);
  });
  return { shell, file, state: "written", next };
}

/** Removes the one file that `install` writes. */
export function uninstall(shell: Shell, host: Host): Installed {
  const { file } = placeOf(shell, host);
  const isThere = ownText(file) !== undefined;
  if (isThere) carefully(file, () => rmSync(file));
  return { shell, file, state: isThere ? "removed" : "not there", next: [] };
}

/**
 * What is in the file; undefined where there is none.
 *
 * @throws Failure `usage` where it is somebody else's
 */
function ownText(file: string): string | undefined {
  const text = carefully(file, () => {
    const found = lstatSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? readFileSync(file, "utf8") : found && "";
  });
  if (text === undefined) return undefined;
  if (text.split("\n", 3).some((line) => line.startsWith(mark))) return text;
  throw new Failure("completion.other-file", `Cannot replace ${file}: lenden did not write it.`, {
    hint: "Move the file away, or print the script without --install and store it where you like.",
  });
}

function carefully<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const code = errorCode(cause) ?? "unknown";
    throw new Failure("completion.not-written", `Cannot read or write ${file} (${code}).`, {
      hint: "Check the permissions of its directory, or print the script without --install.",
      cause,
    });
  }
}
