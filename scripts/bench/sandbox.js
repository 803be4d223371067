// Requests a second of the local sandbox, beside Prism with the document that the sandbox serves.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  environment,
  medianOf,
  output,
  roundDown,
  scratch,
  sideBySide,
  spread,
  startSandbox,
  whole,
} from "./measure.js";
import { installed } from "./tools.js";

/** @typedef {import("./measure.js").Account} Account */

const sandboxName = "`lenden sandbox start`";
const prismName = "`prism mock`";

/** Each with the number of requests in a round: about a second of each server's time. */
const kinds = [
  { path: "/payment/methods", title: "GET /payment/methods", amounts: [15_000, 2_000], least: 5 },
  {
    path: "/payout/create-by-server",
    title: "POST /payout/create-by-server, signed",
    amounts: [8_000, 1_500],
    isPayout: true,
  },
];

/** @param {import("./measure.js").Options} options */
export async function measureSandbox({ rounds, quick }) {
  const sandbox = await startSandbox();
  const prism = await startPrism(sandbox.account);
  const { modules } = installed("autocannon");
  const program = join(import.meta.dirname, "load.js");
  const servers = [
    { name: sandboxName, origin: sandbox.account.baseUrl },
    { name: prismName, origin: prism.origin },
  ];
  const sections = [];
  for (const { path, title, amounts, isPayout, least } of kinds) {
    const sides = servers.map(({ name, origin }, index) => ({
      name,
      run: (/** @type {number} */ round) => {
        const amount = (amounts[index] ?? 0) * (quick ? 0.1 : 1);
        const references = isPayout ? `R${round + 10}` : undefined;
        const load = { url: origin + path, amount, account: sandbox.account, references };
        return Number(output([process.execPath, program, modules, JSON.stringify(load)]));
      },
    }));
    const figures = await sideBySide(sides, { rounds, warmRounds: 2 });
    const ratio = medianOf(figures, sandboxName) / medianOf(figures, prismName);
    const aim = least && `at least ${least}: ${ratio >= least ? "yes" : "NO"}`;
    sections.push({
      title: `The local sandbox: ${title}`,
      notes: [
        `Requests a second, 32 connections, medians of ${rounds} rounds side by side. Client and server share the machine. Prism ${prism.version} runs without its log; it checks no signature and stores nothing.`,
      ],
      columns: ["server", "a second", "least to most", "times Prism"],
      rows: [sandboxName, prismName].map((name) => [
        name,
        whole(medianOf(figures, name)),
        spread(figures[name]),
        name === sandboxName ? [roundDown(ratio), aim].filter(Boolean).join("; ") : "",
      ]),
    });
  }
  for (const server of [sandbox, prism]) server.stop();
  return sections;
}

/** @param {Account} account */
async function startPrism({ baseUrl, apiKey }) {
  const { version, bin } = installed("@stoplight/prism-cli");
  const file = join(scratch, "openapi.json");
  writeFileSync(file, await (await fetch(new URL("/openapi.json", baseUrl))).text());
  const port = String(20_000 + (process.pid % 20_000));
  const line = [bin("prism"), "mock", file, "-p", port, "-h", "127.0.0.1", "-v", "silent"];
  const child = spawn(process.execPath, line, { env: environment(), stdio: "ignore" });
  const stop = () => void child.kill();
  process.once("exit", stop);
  const origin = `http://127.0.0.1:${port}`;
  const headers = { "x-api-key": apiKey };
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const response = await fetch(`${origin}/payment/methods`, { headers }).catch(() => undefined);
    if (response?.ok) return { origin, version, stop };
    await delay(100);
  }
  throw new Error("Prism did not respond within 30 seconds");
}
