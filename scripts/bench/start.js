// Times commands beside a bare Node and beside `stripe get` against the same fake API.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  environment,
  launcher,
  medianOf,
  roundUp,
  scratch,
  sideBySide,
  spread,
  startApi,
  startSandbox,
  time,
  whole,
} from "./measure.js";
import { nodeOf, stripeGet, versionOf } from "./tools.js";

/** @typedef {import("./measure.js").Account} Account */

const bare = "node -e 0";
const stripe = "stripe get /v1/charges";

/**
 * Each command with what it is compared with, and the ratio that it should not exceed on Node 20 and 24, if there is
 * one. Commands of the sandbox write a ledger; the others ask the fake API.
 *
 * @type {{ label: string, line: string, beside: string, most: [number | undefined, number | undefined] }[]}
 */
const commands = [
  { label: "lenden --version", line: "--version", beside: bare, most: [1.9, 1.6] },
  { label: "lenden --help", line: "--help", beside: bare, most: [1.9, 1.6] },
  {
    label: "lenden payout send --help",
    line: "payout send --help",
    beside: bare,
    most: [1.9, 1.6],
  },
  {
    label: "Tab on a flag",
    line: "__complete --typed=--a payout send",
    beside: bare,
    most: [1.9, 1.6],
  },
  {
    label: "Tab on a payout's ID",
    line: "__complete --typed=PO payout get",
    beside: bare,
    most: [undefined, 2.4],
  },
  { label: "lenden methods", line: "methods", beside: stripe, most: [0.85, 0.85] },
  {
    label: "lenden payout send",
    line: "payout send --amount 5 --to 01712345678 --method bkash --again",
    beside: stripe,
    most: [1.15, 1.05],
  },
];

/** A single-file binary, if one was built. */
const binary = resolve(import.meta.dirname, "../../dist-binary/lenden");

/** @param {import("./measure.js").Options} options */
export async function measureStart({ rounds }) {
  const [api, sandbox] = [await startApi(), await startSandbox()];
  const nodes = [20, 24].map((major) => ({ major, node: nodeOf(major) }));
  const sides = nodes.flatMap(({ major, node }) =>
    sidesOn(node, major, api.account, sandbox.account),
  );
  const figures = await sideBySide(
    sides.map(({ name, line, env }) => ({ name, run: () => time(line, { env }) })),
    { rounds },
  );
  for (const server of [api, sandbox]) server.stop();
  const labels = [...new Set(sides.map(({ label }) => label))];
  const majors = nodes.map(({ major }) => major);
  return [
    {
      title: "Commands, in milliseconds",
      notes: [
        `Medians of ${rounds} rounds side by side, without NODE_EXTRA_CA_CERTS. \`payout send\` asks the local sandbox and writes the ledger; the other requests go to a fake API that responds at once. Stripe is version ${stripeGet(process.execPath, api.account.baseUrl).version}.`,
      ],
      columns: [
        "command",
        ...nodes.flatMap(({ node }) => [`Node ${versionOf(node)}`, "least to most"]),
        "ratio",
      ],
      rows: labels.map((label) => [
        label,
        ...majors.flatMap((major) => {
          const ms = figures[`${label} (Node ${major})`];
          return [ms ? whole(ms.median) : "", spread(ms)];
        }),
        ratios(label, majors, figures),
      ]),
    },
  ];
}

/** @param {string} node @param {number} major @param {Account} api @param {Account} sandbox */
function sidesOn(node, major, api, sandbox) {
  const env = environment(join(scratch, `api-${major}`), api);
  const sandboxed = environment(join(scratch, `sandbox-${major}`), sandbox);
  const single = existsSync(binary) && major === 24 ? ["--version", "methods"] : [];
  return [
    { label: bare, line: [node, "-e", "0"], env },
    ...commands.map(({ label, line }) => ({
      label,
      line: [node, launcher, ...line.split(" ")],
      env: /payout/.test(label) ? sandboxed : env,
    })),
    { label: stripe, ...stripeGet(node, api.baseUrl) },
    ...single.map((word) => ({ label: `lenden ${word}, single file`, line: [binary, word], env })),
  ].map((side) => ({ ...side, name: `${side.label} (Node ${major})` }));
}

/**
 * The ratio of a command on each Node, and whether each is small enough.
 *
 * @param {string} label
 * @param {number[]} majors
 * @param {import("./measure.js").Figures} figures
 */
function ratios(label, majors, figures) {
  const aim = commands.find((command) => command.label === label);
  if (!aim) return "";
  const found = majors.map(
    (major) =>
      medianOf(figures, `${label} (Node ${major})`) /
      medianOf(figures, `${aim.beside} (Node ${major})`),
  );
  const isMet = found.every((ratio, place) => ratio <= (aim.most[place] ?? ratio));
  const [program] = aim.beside.split(" ");
  const most = aim.most.map((one) => one ?? "–").join(", ");
  return `${found.map(roundUp).join(", ")} of ${program}; at most ${most}: ${isMet ? "yes" : "NO"}`;
}
