import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { shellLine } from "../../domain/text.ts";
import { makeDirectory } from "../../platform/files.ts";
import { absolute, type Host } from "../../platform/host.ts";

/** The name of each script in the package. */
export const scriptNames = {
  bash: "lenden.bash",
  zsh: "_lenden",
  fish: "lenden.fish",
  powershell: "lenden.ps1",
};
export type Shell = keyof typeof scriptNames;
export const shells: readonly Shell[] = ["bash", "zsh", "fish", "powershell"];

/** What was done with the script of a shell. */
export interface Installed {
  shell: Shell;
  file: string;
  state: "written" | "unchanged" | "removed" | "not found";
  /** The remaining steps: sentences and lines for start-up files. */
  next: string[];
}

/** The first lines of each script contain it. */
const mark = "# The completion of lenden for ";

/** The script itself. */
export function scriptOf(shell: Shell, { shipped }: Host): string {
  return shipped(`completions/${scriptNames[shell]}`);
}

/** Writes the script to the user's own directory. A file that lenden did not write stays unchanged. */
export function install(shell: Shell, host: Host): Installed {
  const { file, next } = targetOf(shell, host);
  const script = scriptOf(shell, host);
  if (installedText(file) === script) return { shell, file, state: "unchanged", next };
  withFile(file, () => {
    makeDirectory(dirname(file));
    writeFileSync(`${file}.new`, script);
    renameSync(`${file}.new`, file);
  });
  return { shell, file, state: "written", next };
}

/** Removes the one file that `install` writes. */
export function uninstall(shell: Shell, host: Host): Installed {
  const { file } = targetOf(shell, host);
  if (installedText(file) === undefined) return { shell, file, state: "not found", next: [] };
  withFile(file, () => rmSync(file));
  return { shell, file, state: "removed", next: [] };
}

/** The file in which a shell finds its script, and the remaining steps. */
function targetOf(shell: Shell, { env, folders }: Host): Pick<Installed, "file" | "next"> {
  const data = absolute(env.XDG_DATA_HOME) ?? join(folders.home, ".local", "share");
  const config = absolute(env.XDG_CONFIG_HOME) ?? join(folders.home, ".config");
  const bash = absolute(env.BASH_COMPLETION_USER_DIR) ?? join(data, "bash-completion");
  const functions = join(data, "zsh", "site-functions");
  const files = {
    bash: join(bash, "completions", "lenden"),
    zsh: join(functions, scriptNames.zsh),
    fish: join(config, "fish", "completions", scriptNames.fish),
    powershell: join(folders.data, scriptNames.powershell),
  };
  const steps = {
    bash: [
      "New bash shells load it if the package bash-completion is installed.",
      "Otherwise add this line to ~/.bashrc:",
      `  ${shellLine([".", files.bash])}`,
    ],
    // `fpath` is not in the environment, so its content is not known here.
    zsh: [
      "Add these two lines to ~/.zshrc if they are missing, and open a new zsh:",
      `  fpath=(${shellLine([functions])} $fpath)`,
      "  autoload -Uz compinit && compinit",
    ],
    fish: ["A new fish loads it."],
    powershell: [
      "Add this line to the file that $PROFILE names, and open a new PowerShell:",
      `  . '${files.powershell.replaceAll("'", "''")}'`,
    ],
  };
  return { file: files[shell], next: steps[shell] };
}

/** @throws Failure `completion.other-file` if lenden did not write the file */
function installedText(file: string): string | undefined {
  const text = withFile(file, () => {
    const found = lstatSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? readFileSync(file, "utf8") : found && "";
  });
  if (text === undefined) return undefined;
  if (text.split("\n", 3).some((line) => line.startsWith(mark))) return text;
  throw new Failure("completion.other-file", `Cannot replace ${file}: lenden did not write it.`, {
    hint: "Move the file away, or print the script without --install and store it where you like.",
  });
}

function withFile<Value>(file: string, work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    const message = `Cannot read or write ${file}: ${systemReason(cause)}.`;
    throw new Failure("completion.not-written", message, {
      hint: "Check the permissions of its directory, or print the script without --install.",
      cause,
    });
  }
}
