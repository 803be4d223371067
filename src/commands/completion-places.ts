import { join } from "node:path";
import { shellLine } from "../cli/output/shell-line.ts";
import { absolute } from "../platform/directories.ts";
import type { Host } from "../platform/host.ts";

export const shells = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof shells)[number];

/** Where a shell finds its completion script, and what a person has to do beside. */
export interface Place {
  file: string;
  /** Sentences and lines, to be done once; none where the shell needs nothing. */
  next: string[];
}

/** What the script is called in the package. */
export const scriptNames: Record<Shell, string> = {
  bash: "lenden.bash",
  zsh: "_lenden",
  fish: "lenden.fish",
  powershell: "lenden.ps1",
};

type Machine = Pick<Host, "env" | "folders">;

/** Places of the person alone: nothing is written where others would run it. */
export function placeOf(shell: Shell, machine: Machine): Place {
  return { bash, zsh, fish, powershell }[shell](machine);
}

function bash(machine: Machine): Place {
  const own = absolute(machine.env.BASH_COMPLETION_USER_DIR);
  const folder = own ?? join(dataHome(machine), "bash-completion");
  const file = join(folder, "completions", "lenden");
  return {
    file,
    next: [
      "A new bash finds it there by itself, if the package bash-completion is installed.",
      "If it is not, add this line to ~/.bashrc:",
      `  ${shellLine([".", file])}`,
    ],
  };
}

/** What is in a running zsh's `fpath` cannot be seen from here: it is no variable of the environment. */
function zsh(machine: Machine): Place {
  const folder = join(dataHome(machine), "zsh", "site-functions");
  return {
    file: join(folder, scriptNames.zsh),
    next: [
      "Add these two lines to ~/.zshrc, unless they are there, and open a new zsh:",
      `  fpath=(${shellLine([folder])} $fpath)`,
      "  autoload -Uz compinit && compinit",
    ],
  };
}

function fish({ env, folders }: Machine): Place {
  const config = absolute(env.XDG_CONFIG_HOME) ?? join(folders.home, ".config");
  return {
    file: join(config, "fish", "completions", scriptNames.fish),
    next: ["Every fish finds it there by itself."],
  };
}

function powershell({ folders }: Machine): Place {
  const file = join(folders.data, scriptNames.powershell);
  return {
    file,
    next: [
      "Add this line to the file that $PROFILE names, and open a new PowerShell:",
      `  . '${file.replaceAll("'", "''")}'`,
    ],
  };
}

function dataHome({ env, folders }: Machine): string {
  return absolute(env.XDG_DATA_HOME) ?? join(folders.home, ".local", "share");
}
