// The servers that the local sandbox is measured beside.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { scratch, started, surroundings } from "./commands.js";
import { installed } from "./others.js";

/** Prism on the document that the sandbox serves, without its log; or why there is none. */
export async function startPrism({ baseUrl, apiKey }) {
  const found = installed("@stoplight/prism-cli");
  if (found.why) return { why: found.why, stop: () => {} };
  const file = join(scratch, "openapi.json");
  writeFileSync(file, await (await fetch(new URL("/openapi.json", baseUrl))).text());
  const port = await freePort();
  const line = [found.bin("prism"), "mock", file, "-p", port, "-h", "127.0.0.1", "-v", "silent"];
  const child = spawn(process.execPath, line, { env: surroundings(), stdio: "ignore" });
  const stop = () => child.kill();
  process.once("exit", stop);
  const origin = `http://127.0.0.1:${port}`;
  const answers = await untilItAnswers(`${origin}/payment/methods`, apiKey);
  if (!answers) return { why: "it did not answer within 30 seconds", stop };
  return { origin, version: found.version, pid: child.pid, stop };
}

/** The bare server, with the bytes that the sandbox answers on each path. */
export async function startBare(answers) {
  const program = join(import.meta.dirname, "bare-server.js");
  const running = await started([process.execPath, program, JSON.stringify(answers)]);
  return { ...running, origin: running.first };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

async function untilItAnswers(url, apiKey) {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(url, { headers: { "x-api-key": apiKey } }).catch(() => undefined);
    if (answer?.ok) return true;
    await delay(100);
  }
  return false;
}
