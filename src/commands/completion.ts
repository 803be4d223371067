import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf, takes } from "../cli/command/flag.ts";
import { usage } from "../domain/failure.ts";
import { type Reading, rejected } from "../domain/reading.ts";
import type { Installed } from "./completion-file.ts";
import { type Shell, shells } from "./completion-places.ts";

export const completion = defineCommand({
  name: "completion",
  summary: "Print a shell's completion script, or install it",
  details:
    "With it, Tab completes commands, flags and their words, files, profiles, methods, batches, and the newest ids of the ledger. --install writes one file, where the shell looks for such files, and says what else is to be done; your own start-up files are never changed.",
  examples: [
    { line: "lenden completion bash --install", says: "for every bash from now on" },
    { line: "lenden completion zsh --uninstall", says: "takes that file away again" },
    { line: "lenden completion fish", says: "prints it, for those who keep such files themselves" },
  ],
  arguments: { shell: argument.required(shells.join("|"), "The shell", takes(shells, readShell)) },
  flags: {
    install: flag.toggle("--install", "Write it to where the shell finds it"),
    uninstall: flag.toggle("--uninstall", "Remove what --install wrote"),
  },
  exits: ["internal"],
  async run({ shell, ...wanted }, { host }): Promise<Printed | Installed> {
    const { install, scriptOf, uninstall } = await import("./completion-file.ts");
    if (wanted.install && wanted.uninstall)
      throw usage(["--install and --uninstall contradict each other."]);
    if (wanted.install) return install(shell, host);
    return wanted.uninstall ? uninstall(shell, host) : { shell, script: scriptOf(shell, host) };
  },
  view: (done) => ({
    kind: "raw",
    text: "script" in done ? done.script.trimEnd() : saidOf(done),
  }),
});

const readKnown = oneOf(shells);
/** Real names that are a letter or two from a shell that lenden knows. */
const otherShells = [
  "ash",
  "cmd",
  "csh",
  "dash",
  "ksh",
  "mksh",
  "nu",
  "sh",
  "tcsh",
  "xonsh",
  "yash",
];

/** Another shell is not a mistyped one; `pwsh` is what PowerShell's program is called. */
function readShell(text: string): Reading<Shell> {
  const typed = text.toLowerCase();
  const known = `This is not one of: ${shells.join(", ")}.`;
  if (typed === "pwsh") return rejected(`${known} Did you mean powershell?`);
  return otherShells.includes(typed) ? rejected(known) : readKnown(text);
}

interface Printed {
  shell: Shell;
  script: string;
}

function saidOf({ shell, file, state, next }: Installed): string {
  const said = {
    written: `The completion of ${shell} is written to ${file}.`,
    "there already": `The completion of ${shell} is in ${file} already.`,
    removed: `${file} is removed. What you added to your start-up file yourself is still there.`,
    "not there": `There is no ${file}; nothing was changed.`,
  }[state];
  return [said, ...next].join("\n");
}
