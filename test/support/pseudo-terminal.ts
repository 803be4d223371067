import { execFile, execFileSync } from "node:child_process";
import { toolLine } from "../tool.js";
import { scratchFolder } from "./helpers.ts";
import { builtEnv } from "./lenden.ts";

/** Whether this machine has `script` of util-linux, which creates a terminal. */
export const hasTerminal = isThere("script");

/** Runs the built tool on a terminal of its own, and gives what that showed. */
export function onTerminal(
  args: string[],
  { env = {}, columns = 80 }: { env?: Record<string, string>; columns?: number } = {},
): Promise<{ code: number; shown: string }> {
  const folder = env.LENDEN_CONFIG_DIR ?? scratchFolder();
  const whole = [toolLine, ...args.map((word) => `'${word}'`)].join(" ");
  return new Promise((done) => {
    execFile(
      "script",
      ["-qec", `stty cols ${columns}; exec ${whole}`, "/dev/null"],
      {
        env: {
          ...{ SHELL: "/bin/sh", TERM: "xterm-256color" },
          ...builtEnv({ ...env, LENDEN_CONFIG_DIR: folder }),
        },
      },
      (error, shown) => done({ code: typeof error?.code === "number" ? error.code : 0, shown }),
    ).stdin?.end();
  });
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
