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
import { notMeasured, sandboxTable } from "./sandbox-table.js";

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
  if (autocannon.why) return [notMeasured(autocannon.why)];
  const servers = await startServers();
  const measured = [];
  for (const kind of kinds) {
    const sides = sidesOf(kind, servers, { modules: autocannon.modules, share: quick ? 0.1 : 1 });
    const figures = summaries(await sideBySide(sides, { rounds, warmRounds: 2, what: kind.title }));
    measured.push({ kind, figures, rounds, prism: servers.prism, megabytes: peaksOf(servers) });
  }
  for (const { stop } of Object.values(servers)) stop();
  return measured.map(sandboxTable);
}

/** How many requests a second, and the microseconds of processor that each cost the server. */
function sidesOf(kind, servers, { modules, share }) {
  const there = Object.entries(servers).filter(([, { origin }]) => origin);
  return there.map(([name, { origin, pid }]) => ({
    name,
    run: (round) => {
      const amount = kind.amounts[name] * share;
      const references = kind.pays && `${name}${round + 10}`;
      const before = processorTime(pid);
      const asked = { ...servers.lenden, url: origin + kind.path, amount, references };
      const rate = perSecond(modules, asked);
      return { [name]: rate, [`${name}, processor`]: (processorTime(pid) - before) / amount };
    },
  }));
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
