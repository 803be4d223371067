import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf, takes } from "../cli/command/flag.ts";
import { usage } from "../domain/failure.ts";
import { err, type Result } from "../domain/result.ts";
import {
  type Installed,
  install,
  type Shell,
  scriptOf,
  shells,
  uninstall,
} from "./completion-install.ts";

export const completion = defineCommand({
  description:
    "Tab completes commands, flags, files, profiles, methods, batches and the newest IDs of the ledger. --install writes one file where the shell looks for completions, and shows the remaining steps. Your start-up files stay unchanged.",
  examples: {
    "Install completions for bash": "lenden completion bash --install",
    "Remove them from zsh": "lenden completion zsh --uninstall",
    "Print the script for fish": "lenden completion fish",
  },
  arguments: {
    shell: argument.required("shell", `Shell: {${shells.join(" | ")}}`, takes(shells, readShell)),
  },
  flags: {
    install: flag.toggle("--install", "Write the script where the shell finds it"),
    uninstall: flag.toggle("--uninstall", "Remove the file that --install wrote"),
  },

  async run({ shell, ...wanted }, { host }): Promise<Printed | Installed> {
    if (wanted.install && wanted.uninstall)
      throw usage(["--install and --uninstall cannot be used together."]);
    if (wanted.install) return install(shell, host);
    return wanted.uninstall ? uninstall(shell, host) : { shell, script: scriptOf(shell, host) };
  },
  view: (done) => ({
    kind: "raw",
    text: "script" in done ? done.script.trimEnd() : textOf(done),
  }),
});

const readKnown = oneOf(shells);

/** `pwsh` is the program of PowerShell. */
function readShell(text: string): Result<Shell> {
  if (text.toLowerCase() !== "pwsh") return readKnown(text);
  return err(`Invalid value. Use one of: ${shells.join(", ")}. Did you mean powershell?`);
}

interface Printed {
  shell: Shell;
  script: string;
}

function textOf({ shell, file, state, next }: Installed): string {
  const text = {
    written: `Wrote the completions for ${shell} to ${file}.`,
    unchanged: `The completions for ${shell} are already in ${file}.`,
    removed: `Removed ${file}. Lines in your start-up files remain.`,
    "not found": `${file} does not exist. Nothing was changed.`,
  }[state];
  return [text, ...next].join("\n");
}
