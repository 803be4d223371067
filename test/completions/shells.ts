import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { built } from "../support/lenden.ts";
import { openTerminal, type Terminal } from "../terminal/terminal.ts";
import type { Machine } from "./machine.ts";

export type TestedShell = "bash" | "zsh" | "fish";

/** A shell at a terminal, with the completion installed as its own words say. */
export interface Shell {
  /** Types a line up to a Tab, and waits until it reads like this. */
  completes(typed: string, wanted: string): Promise<void>;
  /** Types a line up to a Tab, and waits until all of these are listed. */
  lists(typed: string, wanted: string[]): Promise<string>;
  /** Types a line up to a Tab, which changes nothing. */
  leaves(typed: string): Promise<void>;
}

export async function openShell(shell: TestedShell, machine: Machine): Promise<Shell> {
  const { folder, work, env } = machine;
  const installed = await built(["completion", shell, "--install", "--json"], { env });
  const { next }: { next: string[] } = JSON.parse(installed.stdout);
  const added = next.filter((line) => line.startsWith("  ")).map((line) => line.trim());
  const { file, before, args } = startUp[shell];
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), [...before, ...added, `cd '${work}'`, ""].join("\n"));
  const terminal = await openTerminal(args(join(folder, file)), {
    program: [shell],
    env: { ...env, LANG: "C.UTF-8" },
    columns: 120,
    rows: 50,
  });
  await terminal.shows(/^\$$/m);
  return shellAt(terminal);
}

/** Each look at the screen is a process of its own. */
const betweenLooksMs = 100;

/** So that a test that fails says what was on the screen. */
const patienceMs = 45_000;

function shellAt(terminal: Terminal): Shell {
  const line = (text: string) => new RegExp(`^\\$ ${escaped(text)}$`, "m");
  const shows = async (wanted: RegExp, step: string): Promise<void> => {
    const giveUpMs = Date.now() + patienceMs;
    for (;;) {
      const screen = await terminal.screen();
      if (wanted.test(screen)) return;
      if (Date.now() >= giveUpMs)
        throw new Error(`${step}: no ${wanted} on this screen:\n${screen}`);
      await delay(betweenLooksMs);
    }
  };
  const tab = async (typed: string): Promise<void> => {
    await terminal.type(typed);
    await terminal.press("Tab");
  };
  const clear = async (): Promise<void> => {
    await terminal.press("C-u", "C-l");
    await shows(/^\$$/, "clearing");
  };
  return {
    completes: async (typed, wanted) => {
      await tab(typed);
      await shows(line(wanted), typed);
      await clear();
    },
    lists: async (typed, wanted) => {
      await tab(typed);
      for (const one of wanted) await shows(new RegExp(`^(?!\\$).*${escaped(one)}`, "m"), typed);
      const screen = await terminal.screen();
      await clear();
      return screen;
    },
    leaves: async (typed) => {
      await tab(typed);
      await terminal.type("Z");
      await shows(line(`${typed}Z`), typed);
      await clear();
    },
  };
}

/** A shell that reads one file of ours, shows a short prompt, and lists at the first Tab. */
const startUp: Record<
  TestedShell,
  { file: string; before: string[]; args: (file: string) => string[] }
> = {
  bash: {
    file: ".bashrc",
    before: [
      "PS1='$ '",
      "bind 'set show-all-if-ambiguous on'",
      "bind 'set completion-query-items 0'",
      "bind 'set page-completions off'",
      "bind 'set bell-style none'",
    ],
    args: (file) => ["--noprofile", "--rcfile", file, "-i"],
  },
  zsh: {
    file: ".zshrc",
    before: ["PS1='$ '", "LISTMAX=1000", "unsetopt beep list_ambiguous"],
    args: () => ["-i"],
  },
  fish: {
    file: ".config/fish/config.fish",
    before: [
      "function fish_prompt; echo -n '$ '; end",
      "set -g fish_greeting",
      "set -g fish_autosuggestion_enabled 0",
    ],
    args: () => ["-i"],
  },
};

/** Nothing that the ledger, a cache or a batch holds was run. */
export function expectNothingRun({ work, folder }: Machine): void {
  expect([work, folder].map((one) => existsSync(join(one, "pwned")))).toEqual([false, false]);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
