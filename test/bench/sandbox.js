// Requests per second of the local sandbox, beside Prism mocking the document that the sandbox
// serves, and beside a bare node:http server that gives the same bytes without looking.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { answerText, signedPayout } from "./asking.js";
import { peakSoFar, processorTime, startSandbox } from "./commands.js";
import { summaries } from "./figures.js";
import { installed } from "./others.js";
import { sideBySide } from "./rounds.js";
import { startBare, startPrism } from "./sandbox-servers.js";
import { sandboxTable } from "./sandbox-table.js";

/** What is asked, and how much of it in a round: about a second of each server's time. */
const kinds = [
  {
    title: "GET /payment/methods",
    path: "/payment/methods",
    amounts: { bare: 40_000, lenden: 15_000, prism: 2_000 },
    leastOfBare: 0.35,
    leastOfPrism: 5,
  },
  {
    title: "POST /payout/create-by-server, signed",
    path: "/payout/create-by-server",
    pays: true,
    amounts: { bare: 20_000, lenden: 8_000, prism: 1_500 },
    leastOfPrism: 5,
  },
];

/** The sections of the report on the sandbox. */
export async function measureSandbox({ rounds, quick }) {
  const autocannon = installed("autocannon");
  if (autocannon.why) throw new Error(`autocannon is not to be had: ${autocannon.why}`);
  const servers = await startServers();
  const { lenden, prism } = servers;
  const measured = [];
  for (const kind of kinds) {
    const sides = Object.entries(servers)
      .filter(([, { origin }]) => origin)
      .map(([name, { origin, pid }]) => ({
        name,
        run: (round) => {
          const amount = kind.amounts[name] / (quick ? 10 : 1);
          const references = kind.pays && `${name}${round + 10}`;
          const asked = { ...lenden, url: origin + kind.path, amount, references };
          const before = processorTime(pid);
          const rate = perSecond(autocannon.modules, asked);
          return { [name]: rate, [`${name}, processor`]: (processorTime(pid) - before) / amount };
        },
      }));
    const figures = summaries(await sideBySide(sides, { rounds, warmRounds: 2, what: kind.title }));
    measured.push({ kind, figures, rounds, prism, megabytes: peaksOf(servers) });
  }
  for (const { stop } of Object.values(servers)) stop();
  return measured.map(sandboxTable);
}

async function startServers() {
  const sandbox = await startSandbox();
  const [methods, payout] = kinds.map(({ path }) => path);
  const bare = await startBare({
    [methods]: await answerText(sandbox, methods),
    [payout]: await answerText(sandbox, payout, signedPayout(sandbox, { merchantRef: "FIRST" })),
  });
  return {
    bare,
    lenden: { ...sandbox, origin: sandbox.baseUrl },
    prism: await startPrism(sandbox),
  };
}

function peaksOf(servers) {
  return Object.fromEntries(
    Object.entries(servers).map(([name, { pid }]) => [name, peakSoFar(pid)]),
  );
}

function perSecond(modules, { apiKey, payoutSecret, url, amount, references }) {
  const asked = JSON.stringify({ apiKey, payoutSecret, url, amount, references });
  const line = [join(import.meta.dirname, "load.js"), modules, asked];
  const { status, stdout, stderr } = spawnSync(process.execPath, line, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}
