import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf, takes } from "../cli/command/flag.ts";
import {
  type Installed,
  install,
  type Shell,
  scriptOf,
  shells,
  uninstall,
} from "../cli/completion/install.ts";
import { err, quoted, type Result } from "../domain/result.ts";

export const completion = defineCommand({
  description:
    "Tab completes commands, flags, files, profiles, methods, batches and IDs. --install does not change your shell's start-up files, and shows the remaining steps.",
  examples: {
    "Install completions for bash": "lenden completion bash --install",
    "Print the script for fish": "lenden completion fish",
  },
  arguments: {
    shell: argument.required("shell", `Shell: {${shells.join(" | ")}}`, takes(shells, readShell)),
  },
  flags: {
    install: flag.toggle("--install", "Write the script where the shell finds it"),
    uninstall: flag.toggle("--uninstall", "Remove what --install wrote", { unless: "install" }),
  },

  async run({ shell, ...wanted }, { host }) {
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
  return err(`${quoted(text)} is not one of: ${shells.join(", ")}. Did you mean powershell?`);
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
