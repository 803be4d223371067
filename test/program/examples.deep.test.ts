import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { topics } from "../../src/cli/help/topics.ts";
import { loadCommands } from "../../src/commands/index.ts";
import { builtEnv, ended } from "../support/lenden.ts";
import { type Stage, stageFor } from "./staging.ts";

const sections = (await Promise.all(topics.map(({ load }) => load()))).flat();
const examples = [...(await loadCommands()), ...sections].flatMap(({ examples = [] }) => examples);

// Each is given to a shell, as a reader would; what it names is there (staging.ts).
for (const [command, exitCode] of new Map(
  examples.map((one) => [one.command, one.exitCode ?? 0]),
)) {
  test.concurrent(`'${command}' ends with ${exitCode}`, async ({ onTestFinished }) => {
    const { code, stderr } = await played(await stageFor(command, onTestFinished));
    const error = exitCode === 0 ? undefined : expect.any(String);
    expect({ code, error: /^error: .*/m.exec(stderr)?.[0] }).toEqual({ code: exitCode, error });
  });
}

/** Runs an example; an endless one is stopped by Ctrl-C after its first output. */
async function played({ line, folder, env, isEndless }: Stage) {
  const child = spawn("sh", ["-c", isEndless ? `exec ${line}` : line], {
    cwd: folder,
    env: { ...builtEnv(env), HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (isEndless) child.stdout.once("data", () => child.kill("SIGINT"));
  return ended(child);
}
