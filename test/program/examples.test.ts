import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import type { Page } from "../../src/program/help/page.ts";
import { rootPage, topicsPage } from "../../src/program/help/root.ts";
import { topics } from "../../src/program/help/topics.ts";
import { ended } from "../merchant.ts";
import { type Stage, stageFor } from "./staging.ts";

const pages = [
  rootPage(commands),
  topicsPage(),
  ...(await Promise.all(topics.map(async ({ load }) => (await load()).page))),
];

/** Every example of the commands; those of the topics, which are of the same kinds, are more. */
const lines = new Set([
  ...commands.flatMap(({ examples }) => examples.map(({ line }) => line)),
  ...(process.env.LENDEN_DEEP ? pages.flatMap(examplesOf) : []),
]);

// Each is given to a shell, as a reader would; what it names is there (staging.ts).
for (const line of lines) {
  test.concurrent(`'${line}' works`, async ({ onTestFinished }) => {
    const { code, stderr } = await played(await stageFor(line, onTestFinished));
    expect({ line, code, error: /^error: .*/m.exec(stderr)?.[0] }).toEqual({ line, code: 0 });
  });
}

function examplesOf(page: Page): string[] {
  return page.flatMap((block) =>
    block.kind === "examples" ? block.examples.map(({ line }) => line) : [],
  );
}

/** Runs an example; what would go on for ever is stopped by Ctrl-C once it has said something. */
async function played({ line, folder, env, endless }: Stage) {
  const child = spawn("sh", ["-c", endless ? `exec ${line}` : line], {
    cwd: folder,
    env: { ...env, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (endless) child.stdout.once("data", () => child.kill("SIGINT"));
  return ended(child);
}
