import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf, takes } from "../cli/command/flag.ts";
import { usage } from "../domain/failure.ts";
import { err, type Result } from "../domain/result.ts";
import type { Installed } from "./completion-file.ts";
import { type Shell, shells } from "./completion-places.ts";

export const completion = defineCommand({
  description:
    "Tab then completes commands, flags, files, profiles, methods, batches and the newest IDs of the ledger. --install writes one file where the shell looks for completions, and shows what else to do. It does not change your start-up files.",
  examples: [
    { comment: "Install it for bash", command: "lenden completion bash --install" },
    { comment: "Remove it from zsh", command: "lenden completion zsh --uninstall" },
    { comment: "Print it for fish", command: "lenden completion fish" },
  ],
  arguments: { shell: argument.required(shells.join("|"), "Shell", takes(shells, readShell)) },
  flags: {
    install: flag.toggle("--install", "Write it where the shell finds it"),
    uninstall: flag.toggle("--uninstall", "Remove what --install wrote"),
  },

  async run({ shell, ...wanted }, { host }): Promise<Printed | Installed> {
    const { install, scriptOf, uninstall } = await import("./completion-file.ts");
    if (wanted.install && wanted.uninstall)
      throw usage(["--install and --uninstall cannot be used together."]);
    if (wanted.install) return install(shell, host);
    return wanted.uninstall ? uninstall(shell, host) : { shell, script: scriptOf(shell, host) };
  },
  view: (done) => ({
    kind: "raw",
    text: "script" in done ? done.script.trimEnd() : saidOf(done),
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

function saidOf({ shell, file, state, next }: Installed): string {
  const said = {
    written: `Wrote the completion of ${shell} to ${file}.`,
    "there already": `The completion of ${shell} is already in ${file}.`,
    removed: `Removed ${file}. Lines in your start-up files are still there.`,
    "not there": `There is no ${file}. Nothing was changed.`,
  }[state];
  return [said, ...next].join("\n");
}
