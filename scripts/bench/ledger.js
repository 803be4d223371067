// Times commands with a large ledger beside a small one.
import { join } from "node:path";
import { payoutFile, sendFile } from "./batch.js";
import {
  environment,
  launcher,
  medianOf,
  roundUp,
  scratch,
  sideBySide,
  spread,
  startApi,
  time,
  whole,
} from "./measure.js";

const send = "payout send --amount 5 --to 01712345678 --method bkash";
const commands = [
  "payout list --limit 20",
  "payout list --since today --limit 20",
  "payout list --status Cancelled",
  "payout list --status refused",
  "payout list --to 01999999999",
  "payout list --until 2020-01-01",
  "ledger list --unknown --older-than 1h",
  "ledger show SMALL-1-77",
  `${send} --ref SMALL-1-77`,
  "ledger resolve",
];

/** The most that a command may take with the large ledger, as a ratio. */
const most = 1.3;

/** @param {import("./measure.js").Options} options */
export async function measureLedger({ rounds, quick }) {
  const { account, stop } = await startApi();
  const files = quick ? [1, 2] : Array.from({ length: 10 }, (_, index) => index);
  const small = await filledLedger(account, { rows: 1_000, files: [] });
  const large = await filledLedger(account, { rows: quick ? 10_000 : 100_000, files });
  const ledgers = [small, large];
  const sides = ledgers.flatMap(({ size, env }) =>
    commands.map((command) => ({
      name: `${command}, ${size}`,
      // A reference that belongs to another payout ends with 5.
      run: () => time([process.execPath, launcher, ...command.split(" ")], { env, codes: [0, 5] }),
    })),
  );
  const figures = await sideBySide(sides, { rounds });
  const checks = ledgers.map(({ size, env }) => {
    const ms = time([process.execPath, launcher, "ledger", "check"], { env });
    return `${whole(size)} operations in ${whole(ms)} ms`;
  });
  stop();
  return [
    {
      title: "A ledger that grows, in milliseconds",
      notes: [
        `Node ${process.versions.node}, medians of ${rounds} rounds side by side. \`ledger check\`, which reads everything, once each: ${checks.join(", ")}.`,
      ],
      columns: [
        "command",
        ...ledgers.flatMap(({ size }) => [`${whole(size)} operations`, "least to most"]),
        `ratio, at most ${most}`,
      ],
      rows: commands.map((command) => {
        const names = ledgers.map(({ size }) => `${command}, ${size}`);
        const [few = 0, many = 0] = names.map((name) => medianOf(figures, name));
        const cells = names.flatMap((name) => [
          whole(medianOf(figures, name)),
          spread(figures[name]),
        ]);
        const verdict = many / few <= most ? "yes" : "NO";
        return [`\`${command}\``, ...cells, `${roundUp(many / few)}: ${verdict}`];
      }),
    },
  ];
}

/**
 * A ledger with a thousand payouts, and with those of more files.
 *
 * @param {import("./measure.js").Account} account
 * @param {{ rows: number, files: number[] }} size
 */
async function filledLedger(account, { rows, files }) {
  const directory = join(scratch, `ledger-${files.length}`);
  await sendFile(payoutFile(1_000, "SMALL-1"), account, { directory });
  for (const file of files)
    await sendFile(payoutFile(rows, `LARGE-${file}`), account, { directory });
  return { size: 1_000 + rows * files.length, env: environment(directory, account) };
}
