// How long commands take to start, and their memory at its peak: on two Nodes, beside a bare Node,
// curl, and other people's command lines that ask the same loopback server.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  hasGnuTime,
  launcher,
  peakMegabytes,
  scratch,
  started,
  startSandbox,
  surroundings,
  timed,
} from "./commands.js";
import { summaries } from "./figures.js";
import { nodeOf, versionOf } from "./others.js";
import { othersOn, stripeAlone } from "./others-commands.js";
import { sideBySide } from "./rounds.js";
import { bars, memoryTable, timeTable } from "./start-tables.js";

const majors = [20, 24];

/** Where a build of lenden as a single file may lie; it is measured when it does. */
const singleFiles = ["dist/lenden", "dist-binary/lenden"];

/** The sections of the report on starting. */
export async function measureStart({ rounds }) {
  const service = await started([process.execPath, join(import.meta.dirname, "service.js")]);
  const sandbox = await startSandbox();
  const servers = { service: service.first, sandbox: sandbox.account };
  const nodes = majors.map((major) => ({ major, ...nodeOf(major) }));
  const sides = [...nodes.flatMap((node) => sidesOn(node, servers)), ...sidesOnNone(servers)];
  const times = await measure(sides, timed, { rounds, what: "starting" });
  const peaks = hasGnuTime && (await measure(sides, peakMegabytes, { rounds, what: "memory" }));
  service.stop();
  sandbox.stop();
  const report = { sides, versions: nodes.map(versionTold), rounds };
  return [
    { ...timeTable(report, times), figures: times, bars: bars(times) },
    { ...memoryTable(report, peaks), figures: peaks },
  ];
}

async function measure(sides, one, options) {
  const measurable = sides.filter(({ line }) => line);
  const runs = measurable.map(({ name, line, env }) => ({ name, run: () => one(line, env) }));
  return summaries(await sideBySide(runs, options));
}

function versionTold({ major, path }) {
  return { major, says: `Node ${path ? versionOf(path) : major}` };
}

/** One that is measured has a `line`; one that cannot be says `why`. */
function sidesOn({ major, path, why }, { service, sandbox }) {
  const named = (one) => ({ ...one, major, name: `${one.label} (Node ${major})` });
  if (why) return [named({ label: "node -e 0", why })];
  const env = surroundings(join(scratch, `service-${major}`), accountOf(service));
  const sandboxed = surroundings(join(scratch, `sandbox-${major}`), sandbox);
  const bare = { label: "node -e 0", line: [path, "-e", "0"], env };
  const lenden = (label, words = label, where = env) => ({
    label: `lenden ${label}`,
    line: [path, launcher, ...words.split(" ")],
    env: where,
  });
  const sends = "payout send --amount 5 --to 01712345678 --method bkash";
  return [
    bare,
    lenden("--version"),
    lenden("--help"),
    lenden("payout send --help"),
    { ...lenden("", "__complete profile", sandboxed), label: "Tab on a profile" },
    { ...lenden("", "__complete payout", sandboxed), label: "Tab on a payout's id" },
    lenden("methods"),
    lenden("methods --json"),
    lenden("payout send", sends, sandboxed),
    ...withCertificates([bare, lenden("methods")]),
    ...othersOn(path, new URL(service).origin),
  ].map(named);
}

/**
 * The same with certificates beside Node's own, as a machine behind a company's proxy has them. Node
 * reads them at every start, so they are held beside a bare Node that does too.
 */
function withCertificates([bare, command]) {
  const { NODE_EXTRA_CA_CERTS } = process.env;
  if (!NODE_EXTRA_CA_CERTS) return [];
  const label = (side) => `${side.label}, with NODE_EXTRA_CA_CERTS`;
  return [bare, command].map((side) => ({
    ...side,
    label: label(side),
    env: { ...side.env, NODE_EXTRA_CA_CERTS },
    beside: label(bare),
  }));
}

/** What is no program for Node, or brings its own. */
function sidesOnNone({ service }) {
  const env = surroundings(join(scratch, "none"), accountOf(service));
  const files = singleFiles.map((file) => resolve(import.meta.dirname, "../..", file));
  const single = files.filter(existsSync).flatMap((file) =>
    ["--version", "--help", "methods"].map((word) => ({
      label: `lenden ${word}, as a single file`,
      line: [file, word],
      env,
    })),
  );
  const asks = ["-sf", "-H", `x-api-key: ${key}`, `${service}/payment/methods`];
  const curl = { label: "curl, the call of `methods`", line: ["curl", ...asks], env };
  return [curl, ...single, ...stripeAlone(new URL(service).origin)].map((one) => ({
    ...one,
    name: one.label,
  }));
}

const key = "sk_sandbox_abc-abcdefghijkl-xyz";

function accountOf(baseUrl) {
  return { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: key, LENDEN_PAYOUT_SECRET: "a-payout-secret" };
}
