import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { promisify, stripVTControlCharacters } from "node:util";
import { onTestFinished, test } from "vitest";
import type { Signal } from "../../src/platform/host.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { builtEnv, lenden } from "../support/lenden.ts";
import { tool } from "../tool.js";

/** The built tool in a pseudo-terminal. tmux draws its screen as a person sees it. */
export interface Terminal {
  /** What is on the screen now, without blank space at the ends of lines and of the screen. */
  screen(): Promise<string>;
  /** Waits until this is on the screen; fails when the tool ends without it. */
  shows(wanted: string | RegExp): Promise<void>;
  /** Types a text at once, as if it was pasted. */
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names: `Enter`, `Down`, `C-c`. */
  press(...keys: string[]): Promise<void>;
  /** Types an answer once its question is there, and presses Enter. A search needs what it finds. */
  answer(question: string | RegExp, text: string, found?: string): Promise<void>;
  signal(name: NodeJS.Signals): Promise<void>;
  /** Closes the terminal. */
  close(): Promise<void>;
  /** Waits until the tool has ended. */
  ended(): Promise<Ended>;
}

/** A terminal, or what looks like one. */
export type Prompts = Omit<Terminal, "close">;

interface Ended {
  code: number;
  /** Everything that is on the screen, and what scrolled out of it. */
  screen: string;
  /** True if the cursor and the next typed line would be visible. */
  isRestored: boolean;
}

export interface TerminalOptions {
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
  /** Where standard output goes, instead of the terminal. */
  stdout?: string;
  /** What runs there, if it is not the tool: a shell. */
  program?: string[];
}

const call = promisify(execFile);

/** Each capture of the screen is a process. */
const betweenLooksMs = 150;

/** What the keys of a test send. */
const keys: Record<string, string> = {
  Enter: "\r",
  Down: "\u001b[B",
  "C-c": "\u0003",
  "C-d": "\u0004",
  "C-u": "\u0015",
};

/**
 * Runs lenden in this process with streams that look like a terminal: fast, for tests of what prompts ask
 * and do. `screen` is everything that was printed, redrawn lines included.
 */
export function openPrompts(
  args: string[],
  { env = {}, columns = 80 }: Pick<TerminalOptions, "env" | "columns"> = {},
): Prompts & {
  stdout(): string;
  /** Everything that was printed, with what moves and colors it. */
  printed(): string;
} {
  let isRaw = false;
  let isOver = false;
  let printed = "";
  /** What was printed before the last key. */
  let seen = 0;
  let stop = (_: Signal): void => {};
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => {
      isRaw = raw;
    },
  });
  // As for standard streams, the end of a prompt does not end them.
  const output = () =>
    Object.assign(new PassThrough(), { isTTY: true, columns, _isStdio: true, rows: 50 });
  const [stdout, stderr] = [output(), output()];
  let result = "";
  stdout.on("data", (data) => {
    result += data;
    printed += data;
  });
  stderr.on("data", (data) => {
    printed += data;
  });
  const run = lenden(args, {
    env: { TERM: "xterm", ...env },
    host: { stdin, stdout, stderr },
    onStart: (signal) => {
      stop = signal;
    },
  }).finally(() => {
    isOver = true;
  });
  const shown = (from = 0) => {
    // A prompt is redrawn from the left of its line.
    const lines = printed.slice(from).replaceAll("\u001b[G", "\n").replaceAll("\r", "");
    return stripVTControlCharacters(lines);
  };
  const shows = async (wanted: string | RegExp): Promise<void> => {
    const pattern = new RegExp(wanted instanceof RegExp ? wanted : escaped(wanted));
    await until(() => pattern.test(shown(seen)) || isOver);
    if (!pattern.test(shown(seen)))
      throw new Error(`it ended without ${pattern} on the screen:\n${shown()}`);
  };
  const type = async (text: string): Promise<void> => {
    seen = printed.length;
    stdin.write(text);
  };
  const press = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      await type(keys[name] ?? name);
      await delay(5); // a prompt reads one key after the other
    }
  };
  return {
    screen: async () => shown(),
    stdout: () => result,
    printed: () => printed,
    shows,
    type,
    press,
    answer: async (question, text, found) => {
      await shows(question);
      if (text !== "") {
        stdin.write(text);
        await delay(5);
      }
      if (found !== undefined) await shows(`❯ ${found}`);
      await press("Enter");
    },
    signal: async (name) => {
      if (name === "SIGINT" || name === "SIGTERM") stop(name);
    },
    ended: async () => {
      const { code } = await run;
      const isCursorShown =
        printed.lastIndexOf("\u001b[?25l") <= printed.lastIndexOf("\u001b[?25h");
      return { code, screen: shown(), isRestored: !isRaw && isCursorShown };
    },
  };
}

/** A test that needs a terminal, and is skipped without tmux. */
export const terminalTest = test.skipIf(!(await hasTmux()));

/** Starts the built tool in a new terminal, which is closed when the test ends. */
export async function openTerminal(
  args: string[],
  { env = {}, stdout = "/dev/tty", program = tool, columns = 80, rows = 24 }: TerminalOptions = {},
): Promise<Terminal> {
  const folder = scratchFolder();
  const tmux = (...words: string[]) =>
    call("tmux", ["-u", "-S", join(folder, "tmux"), "-f", "/dev/null", ...words], {
      env: { ...builtEnv({ LENDEN_CONFIG_DIR: folder }), LANG: "C.UTF-8" },
    });
  const size = ["-x", String(columns), "-y", String(rows)];
  const shell = ["sh", "-c", script, "sh", folder, stdout];
  await tmux("new-session", "-d", ...size, ...shell, ...ran([...program, ...args], env));
  onTestFinished(async () => void (await tmux("kill-server").catch(() => {})));

  const capture = async (...more: string[]): Promise<string> =>
    trimmed((await tmux("capture-pane", "-p", "-J", ...more)).stdout);
  const hasEnded = () => existsSync(join(folder, "code"));
  const shows = async (wanted: string | RegExp): Promise<void> => {
    const pattern = new RegExp(wanted instanceof RegExp ? wanted : escaped(wanted));
    for (;;) {
      const isOver = hasEnded();
      const screen = await capture();
      if (pattern.test(screen)) return;
      if (isOver) throw new Error(`it ended without ${pattern} on the screen:\n${screen}`);
      await delay(betweenLooksMs);
    }
  };
  const type = async (text: string) => void (await tmux("send-keys", "-l", "--", text));
  const press = async (...keys: string[]) => void (await tmux("send-keys", ...keys));
  return {
    screen: () => capture(),
    shows,
    type,
    press,
    answer: async (question, text, found) => {
      await shows(question);
      if (text !== "") await type(text);
      if (found !== undefined) await shows(`❯ ${found}`);
      await press("Enter");
    },
    close: async () => void (await tmux("kill-session")),
    signal: async (name) => {
      process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), name);
    },
    ended: async () => {
      while (!hasEnded()) await delay(50);
      const modes = readFileSync(join(folder, "modes"), "utf8");
      const cursor = (await tmux("display-message", "-p", "#{cursor_flag}")).stdout.trim();
      return {
        code: Number(readFileSync(join(folder, "code"), "utf8")),
        screen: await capture("-S", "-"),
        isRestored:
          cursor === "1" && /(?<!-)\bicanon\b/.test(modes) && /(?<!-)\becho\b/.test(modes),
      };
    },
  };
}

/**
 * Runs the tool, then leaves its code and the terminal's modes behind, and the screen as it is. The
 * shell stays in front of it as in a script, and outlives a Ctrl-C that reaches both.
 */
const script = `
  trap : INT TERM
  folder=$1 out=$2
  shift 2
  sh -c 'echo $$ >"$0/pid"; out=$1; shift; exec "$@" >"$out"' "$folder" "$out" "$@"
  code=$?
  stty -a >"$folder/modes"
  echo "$code" >"$folder/code.new"
  mv "$folder/code.new" "$folder/code"
  exec sleep 600`;

/** The environment goes in front of the tool itself: tmux has a TERM of its own. */
function ran(program: string[], env: Record<string, string>): string[] {
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return ["env", ...pairs, ...program];
}

function trimmed(screen: string): string {
  return screen.replace(/[ \t]+$/gm, "").trimEnd();
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

async function hasTmux(): Promise<boolean> {
  return call("tmux", ["-V"]).then(
    () => true,
    () => false,
  );
}
