import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { loadCommands } from "../../src/cli/command/table.ts";
import { topicPages } from "../../src/cli/help/topic-pages.ts";
import { entries } from "../../src/commands/index.ts";
import { builtEnv, ended } from "../support/lenden.ts";
import { type Stage, stageFor } from "./staging.ts";

const ofTopics = Object.values(topicPages).map(({ Examples = {} }) => Object.entries(Examples));
const ofCommands = (await loadCommands(entries)).map(({ examples }) => Object.entries(examples));
const examples = [...ofCommands, ...ofTopics].flat();

// Each is given to a shell, as a reader would; what it names is there (staging.ts).
// In a terminal it would ask; here its values are missing.
for (const [command, exitCode] of new Map(
  examples.map(([comment, command]) => [command, comment.includes("in a terminal") ? 2 : 0]),
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
