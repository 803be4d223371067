import { expect, onTestFinished, vi } from "vitest";
import { Failure } from "../../src/domain/failure.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { ServerProcess } from "../../src/ledger/postgres/processes.ts";
import { until } from "../support/helpers.ts";
import { serverTest } from "../support/postgres.ts";
import { ledgerDatabase, patient } from "./server-ledger.ts";
import { claim, claimed, payout, record, refund, worker } from "./small-ledger.ts";

/** Why a process may send nothing more; undefined if it may. */
function refusal(ledger: Ledger): string | undefined {
  try {
    ledger.assertStillOurs();
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error.reason : String(error);
  }
}

serverTest("I3: of four processes that claim a reference at once, one gets it", async () => {
  const { open } = await ledgerDatabase();
  const processes = await Promise.all([1, 2, 3, 4].map((pid) => open(asProcess(pid))));
  for (const reference of ["A", "B", "C", "D", "E"]) {
    const answers = await Promise.all(
      processes.map(({ ledger }) => claim(ledger, payout(reference))),
    );
    const kinds = answers.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["locked", "locked", "locked", "new"]);
  }
});

serverTest("I9: of four processes that refund a payment at once, one does", async () => {
  const { open } = await ledgerDatabase();
  const processes = await Promise.all([1, 2, 3, 4].map((pid) => open(asProcess(pid))));
  for (const payment of ["TX1", "TX2", "TX3"]) {
    const answers = await Promise.all(
      processes.map(({ ledger }) => claim(ledger, refund(payment))),
    );
    expect(answers.filter(({ kind }) => kind === "new")).toHaveLength(1);
  }
});

serverTest("sends nothing with less than 10 s of its lease, by either clock", async () => {
  const { open } = await ledgerDatabase();
  const clocks = { monotonic: 0, wall: 0 };
  const { ledger } = await open({
    monotonicMs: () => clocks.monotonic,
    wallMs: () => clocks.wall,
  });
  await claim(ledger, payout("A"));
  clocks.monotonic = clocks.wall = 19_000;
  expect(refusal(ledger)).toBeUndefined();
  clocks.monotonic = 21_000;
  expect(refusal(ledger)).toBe("ledger.lease-ended");
  // The monotonic clock stood still while the machine slept.
  Object.assign(clocks, { monotonic: 1_000, wall: 21_000 });
  expect(refusal(ledger)).toBe("ledger.lease-ended");
});

serverTest(
  "P4: another process takes over 60 s after the lease ended, and not before",
  async () => {
    const { open, run } = await ledgerDatabase();
    const { ledger: first } = await open(asProcess(1));
    const { ledger: second } = await open(asProcess(2));
    const operation = await claimed(first, payout("A"));
    await run("UPDATE processes SET lease_until = clock_timestamp() - interval '59 seconds'");
    expect(await claim(second, payout("A"))).toMatchObject({
      kind: "locked",
      holder: { pid: 1, machine: "m", user: "tester" },
    });
    await run(
      "UPDATE processes SET lease_until = clock_timestamp() - interval '61 seconds' WHERE pid = 1",
    );
    expect(await claim(second, payout("A"))).toMatchObject({ kind: "resumed" });
    const late = { state: "CONFIRMED", remoteId: "P1", sent: true } as const;
    expect(await record(first, operation, late)).toMatchObject({ kind: "moved" });
    expect(await second.find("A")).toMatchObject({ state: "INTENT", holder: { pid: 2 } });
  },
);

serverTest("takes over at once what a process left that ended properly", async () => {
  const { open } = await ledgerDatabase();
  const first = await open(asProcess(1));
  const { ledger: second } = await open(asProcess(2));
  await claimed(first.ledger, payout("A"));
  await first.close();
  expect(await claim(second, payout("A"))).toMatchObject({ kind: "resumed" });
});

serverTest("P4: the clocks of machines need not agree", async () => {
  const { open } = await ledgerDatabase();
  const skewed = async (hours: number) => {
    const now = () => Date.now() + hours * 3_600_000;
    return (await open({ now, wallMs: now })).ledger;
  };
  const ledgers = [await skewed(0), await skewed(24), await skewed(-24)];
  for (const [place, ledger] of ledgers.entries()) {
    await claimed(ledger, payout(`OF-${place}`));
    for (const other of ledgers.filter((one) => one !== ledger))
      expect(await claim(other, payout(`OF-${place}`))).toMatchObject({ kind: "locked" });
    expect(refusal(ledger)).toBeUndefined();
  }
});

serverTest("a heartbeat renews the lease every five seconds", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { open, run } = await ledgerDatabase();
  let nowMs = 0;
  const { ledger } = await open({ monotonicMs: () => nowMs });
  await claim(ledger, payout("A"));
  await run("UPDATE processes SET lease_until = clock_timestamp()");
  nowMs = 15_000;
  vi.advanceTimersByTime(5_000);
  const isRenewed =
    "SELECT lease_until > clock_timestamp() + interval '25 seconds' AS is FROM processes";
  await until(async () => (await run(isRenewed))[0]?.is === true);
  nowMs = 35_000;
  // The server has stored it before the process knows that.
  await until(() => refusal(ledger) === undefined);
  nowMs = 35_001;
  expect(refusal(ledger)).toBe("ledger.lease-ended");
});

serverTest("a process whose work was taken over cannot renew its lease", async () => {
  const { open, run } = await ledgerDatabase();
  const { connection } = await open();
  const clocks = { monotonicMs: () => 0, wallMs: () => 0, leftMs: patient };
  const own = new ServerProcess(connection, { ...worker(), ...clocks });
  const registration = own.registration();
  await connection.readAll(registration ? [registration.statement] : []);
  registration?.done();
  await run("UPDATE processes SET lease_until = clock_timestamp() - interval '59 seconds'");
  await own.renew();
  expect(() => own.assertStillOurs()).not.toThrow();
  await run("UPDATE processes SET lease_until = clock_timestamp() - interval '61 seconds'");
  await own.renew();
  expect(() => own.assertStillOurs()).toThrow();
  await own.end();
});

function asProcess(pid: number) {
  return { origin: { ...worker().origin, pid } };
}
