import { expect, test } from "vitest";
import { createRandom } from "../../src/sandbox/random.ts";
import { runs } from "../support/helpers.ts";
import { isSkipped, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import {
  type Change,
  commands,
  flagChanges,
  globalChanges,
  usual,
  variableChanges,
} from "./changes.ts";
import { type Bounds, type Ledgers, openGround } from "./ground.ts";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
const isDeep = runs(0, 1) > 0;
const timeoutMs = runs(120_000, 1_200_000);

const agentLimits = { "agent-payout": "1000000", "agent-day": "1000000" };
const toEach = (payout: string, refund = payout) => ({ payout, refund });
const usualBounds: Bounds[] = [
  {
    name: "what agents send in a day",
    limits: { "agent-payout": "100", "agent-day": "100" },
    amount: 90,
    reasons: toEach("limits.agent-day"),
  },
  {
    name: "nothing, in production without limits of agents",
    limits: {},
    amount: 90,
    reasons: toEach("agent.needs-person"),
  },
];
const otherBounds: Bounds[] = [
  {
    name: "the largest payout of an agent",
    limits: { "agent-payout": "100", "agent-day": "1000000" },
    amount: 500,
    reasons: toEach("limits.agent-payout"),
  },
  {
    name: "the largest payout, and the refunds of a day",
    limits: { ...agentLimits, payout: "100", "refund-day": "100" },
    amount: 500,
    reasons: toEach("limits.payout", "limits.refund-day"),
  },
  {
    name: "the payouts of a day",
    // What was sent before, and the row that a person planned.
    limits: { ...agentLimits, day: "190", "refund-day": "0" },
    amount: 90,
    reasons: toEach("limits.day", "limits.refund-day"),
  },
  {
    name: "what a new recipient gets",
    limits: { ...agentLimits, "new-recipient": "100", "refund-day": "0" },
    amount: 500,
    reasons: toEach("limits.new-recipient", "limits.refund-day"),
  },
  {
    name: "one payout of an amount to a recipient",
    limits: { ...agentLimits, "refund-day": "0" },
    amount: 100,
    reasons: toEach("limits.repeat", "limits.refund-day"),
    repeats: true,
  },
];

test.each(isDeep ? [...usualBounds, ...otherBounds] : usualBounds)(
  "I13: whatever an agent adds to a command, it exceeds no limit: $name",
  (bounds) => search(bounds),
  timeoutMs,
);

test.skipIf(isSkipped).each(isDeep ? usualBounds : [])(
  "I13: nor in a ledger on PostgreSQL, beside one without limits: $name",
  async (bounds) => {
    const cluster = await sharedCluster();
    const [own, other] = [await teamLedger(cluster), await teamLedger(cluster)];
    const url = ({ database }: typeof own) => cluster.url(database);
    await search(bounds, { own: url(own), other: url(other) });
  },
  timeoutMs,
);

/**
 * Tries each flag of each command that moves money, and each global flag, variable and setting of a profile with one of
 * them; in the deep run with each of them, all commands that change something, and also two at once.
 */
async function search(bounds: Bounds, ledgers?: Ledgers): Promise<void> {
  const ground = await openGround(bounds, ledgers);
  const ends = new Map<string, number>();
  const attempt = async (words: string[], ...changes: Change[]) => {
    const ended = await ground.attempt(words, ...changes);
    expect(ended.moved, ended.shown).toEqual([]);
    ends.set(ended.reason, (ends.get(ended.reason) ?? 0) + 1);
    return ended;
  };
  const lines = commands
    .filter(({ writes }) => writes)
    .flatMap((command) => ground.linesOf(command).map((line) => ({ command, ...line })));
  const sending = lines.filter(({ reason }) => reason !== undefined);
  const shared = [
    ...globalChanges(ground.values),
    ...variableChanges(ground.values),
    ...ground.profileChanges,
  ];

  for (const { command, words, reason } of lines) {
    const ended = await attempt(words, usual);
    if (reason !== undefined) expect(ended.reason, ended.stderr).toBe(reason);
    if (reason === undefined && !isDeep) continue;
    for (const change of flagChanges(command, ground.values)) await attempt(words, change);
  }
  const share = runs(1, sending.length);
  for (const [at, change] of shared.entries())
    for (let of = 0; of < share; of += 1)
      await attempt(sending[(at + of) % sending.length]?.words ?? [], change);
  const random = createRandom(bounds.name, seed);
  const oneOf = <One>(all: One[]): One[] => all.slice(Math.floor(random.share() * all.length));
  for (let left = runs(0, 3_000); left > 0; left -= 1) {
    const [line] = oneOf(sending);
    if (!line) continue;
    const all = [...flagChanges(line.command, ground.values), ...shared];
    await attempt(line.words, ...oneOf(all).slice(0, 1), ...oneOf(all).slice(0, 1));
  }

  const count = [...ends.values()].reduce((sum, one) => sum + one, 0);
  const reasons = [...new Set(Object.values(bounds.reasons))];
  const bounded = reasons.reduce((sum, one) => sum + (ends.get(one) ?? 0), 0);
  process.stdout.write(`${bounds.name}: ${count} attempts, ${bounded} of them above the limit\n`);
  // Many attempts got as far as the limit, and only the limit kept them from being sent.
  expect(bounded).toBeGreaterThan(count / 4);
  await ground.lift();
  for (const { words, isOfPerson } of bounds.repeats ? [] : sending) {
    const { moved, stderr } = await ground.attempt(words, usual);
    expect(moved, stderr).toHaveLength(isOfPerson ? 0 : 1);
  }
}
