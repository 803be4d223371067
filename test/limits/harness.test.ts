import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { built } from "../support/lenden.ts";
import type { Merchant } from "../support/merchant.ts";
import { isSkipped, startCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import {
  type Caller,
  callCommand,
  type Ends,
  invoicesOf,
  type Machine,
  machineOf,
  methodIdOf,
  openBadApi,
  paidTwice,
  payNaively,
  randomOf,
  sendOpenPlans,
  Tools,
} from "./calls.ts";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
/** Of five calls, so many are those of a tool. */
const toolShare = 3;

/** A machine, and the one on which a person sets limits. */
interface Ground {
  machines: Machine[];
  owner: Machine;
}

const ledgers = [
  {
    name: "a ledger file",
    isMissing: false,
    callCount: runs(300, 10_000),
    prepare: async (merchant: Merchant): Promise<Ground> => {
      const machine = await machineOf(merchant);
      return { machines: [machine, machine], owner: machine };
    },
  },
  {
    name: "two machines with a ledger on PostgreSQL",
    isMissing: isSkipped,
    callCount: runs(300, 10_000),
    prepare: async (merchant: Merchant): Promise<Ground> => {
      const cluster = await startCluster();
      const { database, url } = await teamLedger(cluster, "ann", "bo");
      const [ann, bo, owner] = await Promise.all(
        [url("ann"), url("bo"), cluster.url(database)].map((one) => machineOf(merchant, one)),
      );
      if (!ann || !bo || !owner) throw new Error("a machine is missing");
      return { machines: [ann, bo], owner };
    },
  },
];

for (const { name, isMissing, callCount, prepare } of ledgers)
  test.skipIf(isMissing)(
    `I13: agents pay nothing twice and no paisa above a limit: ${name} (${callCount} calls)`,
    async ({ onTestFailed }) => {
      onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
      const merchant = await openBadApi(seed);
      const { machines, owner } = await prepare(merchant);
      const scale = Math.ceil(callCount / 10);
      const limits = { "agent-payout": 1_000, "agent-day": scale * 300, day: scale * 450 };
      const flags = Object.entries(limits).flatMap(([limit, taka]) => [`--${limit}`, `${taka}`]);
      const set = ["limits", "set", ...flags, "--payout", "1200", "--repeat", "reject", "--yes"];
      expect(await built(set, { env: owner })).toMatchObject({ code: 0 });
      const METHOD = await methodIdOf(merchant);
      const callerOf = (at: number, isAgent: boolean): Caller => ({
        machine: { ...machines[at % machines.length], METHOD },
        isAgent,
        invoices: invoicesOf(isAgent ? "AGENT" : "SCRIPT", isAgent ? "017" : "018", scale),
        large: { name: "LARGE", to: isAgent ? "01719999999" : "01819999999", amount: 1_500 },
        random: randomOf(`caller ${at}`, seed),
      });
      const ends: Ends = new Map();
      const tools = [0, 1, 2].map((at) => new Tools(callerOf(at, true), ends));
      const commands = [3, 4, 5, 6, 7, 8].map((at) => callerOf(at, at < 7));
      const workers = [
        ...tools.map((one) => ({ work: () => one.call(), share: toolShare / 5 / tools.length })),
        ...commands.map((one) => ({
          work: () => callCommand(one, ends),
          share: (1 - toolShare / 5) / commands.length,
        })),
      ];
      await Promise.all(
        workers.map(async ({ work, share }) => {
          for (let left = Math.round(callCount * share); left > 0; left -= 1) await work();
        }),
      );
      await sendOpenPlans(callerOf(0, true), ends);

      const books = await merchant.books("payouts");
      const takaOf = (of: (to: string) => boolean) =>
        books
          .filter(({ recipientNumber }) => of(String(recipientNumber)))
          .reduce((sum, { amountPaisa }) => sum + Number(amountPaisa) / 100, 0);
      const isOfAgent = (to: string) => to.startsWith("017");
      const paid = { agents: takaOf(isOfAgent), all: takaOf(() => true) };
      const slowestMs = Math.round(Math.max(...tools.map((one) => one.slowestMs)));
      process.stdout.write(
        `${name}: ${JSON.stringify({ ...paid, limits, slowestMs, payouts: books.length })}\n${[
          ...ends,
        ]
          .sort()
          .map(([how, many]) => `${many} ${how}`)
          .join(", ")}\n`,
      );
      expect(await paidTwice(merchant)).toEqual([]);
      expect(paid.agents).toBeLessThanOrEqual(limits["agent-day"]);
      expect(paid.all).toBeLessThanOrEqual(limits.day);
      const above = books.filter(
        ({ amountPaisa, recipientNumber }) =>
          Number(amountPaisa) > (isOfAgent(String(recipientNumber)) ? 100_000 : 120_000),
      );
      expect(above).toEqual([]);
      // The limits are what stopped the agents.
      expect(paid.agents).toBeGreaterThan(limits["agent-day"] * 0.6);
      for (const reason of ["agent-day", "payout", "repeat"])
        expect(
          [...ends.keys()].some((end) => end.includes(`limits.${reason}`)),
          reason,
        ).toBe(true);
      expect(ends.get("internal"), "internal errors").toBeUndefined();
      expect([...ends.keys()].filter((end) => end.includes("modified"))).toEqual([]);
      const checked = await built(["ledger", "check", "--json"], { env: machines[0] ?? owner });
      expect(checked.code, checked.stdout).toBe(0);
    },
    120_000 + callCount * 1_000,
  );

test("without lenden, a new reference for each attempt pays a quarter of the invoices twice", async () => {
  const merchant = await openBadApi(1);
  const invoices = invoicesOf("NAIVE", "017", 100);

  await payNaively(merchant, invoices);

  expect((await paidTwice(merchant)).length).toBeGreaterThanOrEqual(invoices.length / 4);
});
