// How long commands take with a ledger of a thousand operations, and with one of a million.
import { join } from "node:path";
import { launcher, scratch, startSandbox, surroundings, timed } from "./commands.js";
import { roundedUp, spread, summaries, verdict, whole } from "./figures.js";
import { fillLedger } from "./ledger-made.js";
import { sideBySide } from "./rounds.js";

const mostTimes = 1.3;

/** The section of the report on large ledgers. */
export async function measureLedger({ rounds, quick }) {
  const sandbox = await startSandbox();
  const ledgers = [];
  for (const size of [1_000, quick ? 20_000 : 1_000_000])
    ledgers.push(await makeLedger(sandbox, size));
  const sides = commands.flatMap(({ name, words }) =>
    ledgers.map((ledger) => ({
      name: sideName(name, ledger),
      run: () => run(ledger, words(ledger)),
    })),
  );
  const times = summaries(await sideBySide(sides, { rounds, what: "ledger" }));
  const checks = ledgers.map((ledger) => run(ledger, "ledger check"));
  sandbox.stop();
  return [table(ledgers, times, { rounds, checks })];
}

const send = "payout send --amount 5 --to 01712345678 --method bkash";

const commands = [
  same("payout list --limit 20"),
  same("payout list --since today --limit 20"),
  same("payout list --status Cancelled", "payout list --status Cancelled (there is none)"),
  same("payout get @last"),
  same("ledger show REF-77", "ledger show <reference>"),
  same("ledger show PO77", "ledger show <payoutId>"),
  same("payout wait @last --wait-timeout 1ms", "payout wait @last (1 ms)"),
  same(`${send} --again`, "payout send (a new reference)"),
  { name: "payout send (a known reference)", words: ({ known }) => `${send} --ref ${known}` },
  same("ledger resolve", "ledger resolve (nothing to do)"),
];

function same(words, name = words) {
  return { name, words: () => words };
}

async function makeLedger({ account }, size) {
  const folder = join(scratch, `ledger-${size}`);
  const ledger = { size, known: `KNOWN-${size}`, env: surroundings(folder, account) };
  run(ledger, `${send} --ref ${ledger.known}`);
  await fillLedger(folder, size);
  return ledger;
}

/** A payout that still is Processing when the wait ran out is 8. */
function run({ env }, words) {
  return timed([process.execPath, launcher, ...words.split(" ")], env, [0, 8]);
}

function table(ledgers, times, { rounds, checks }) {
  const sizes = ledgers.map(({ size }) => whole(size));
  const checked = checks.map((ms, index) => `${sizes[index]} operations in ${whole(ms)} ms`);
  return {
    title: "A ledger that grows, in milliseconds of the whole process",
    notes: [
      `Node ${process.versions.node}, medians of ${rounds} rounds side by side.`,
      `\`ledger check\`, which reads everything, once each: ${checked.join(", ")}.`,
    ],
    columns: [
      "command",
      ...sizes.flatMap((size) => [`${size} operations`, "least to most"]),
      "ratio",
      `at most ${mostTimes}`,
    ],
    rows: commands.map(({ name }) => {
      const [few, many] = ledgers.map((ledger) => times[sideName(name, ledger)]);
      const ratio = many.median / few.median;
      const cells = [few, many].flatMap((ms) => [whole(ms.median), spread(ms)]);
      return [`\`${name}\``, ...cells, roundedUp(ratio), verdict(ratio <= mostTimes)];
    }),
    figures: times,
  };
}

function sideName(name, { size }) {
  return `${name}, ${size}`;
}
