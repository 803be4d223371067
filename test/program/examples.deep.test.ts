import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { topics } from "../../src/cli/help/topics.ts";
import { loadCommands } from "../../src/commands/index.ts";
import { exits } from "../../src/domain/failure.ts";
import { builtEnv, ended } from "../support/lenden.ts";
import { type Stage, stageFor } from "./staging.ts";

const sections = (await Promise.all(topics.map(({ load }) => load()))).flat();
const examples = [...(await loadCommands()), ...sections].flatMap(({ examples = [] }) => examples);

// Each is given to a shell, as a reader would; what it names is there (staging.ts).
for (const [line, says] of new Map(examples.map((one) => [one.line, one.says]))) {
  test.concurrent(`'${line}' ends as it says`, async ({ onTestFinished }) => {
    const { code, stderr } = await played(await stageFor(line, onTestFinished));
    const named = endingOf(says);
    const error = named === 0 ? undefined : expect.any(String);
    expect({ code, error: /^error: .*/m.exec(stderr)?.[0] }).toEqual({ code: named, error });
  });
}

/** The exit that an example names, else 0. A question has no terminal here. */
function endingOf(says: string): number {
  if (/^asks\b/.test(says)) return exits.usage.code;
  return Number(/^exit (\d+)\b/.exec(says)?.[1] ?? 0);
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
