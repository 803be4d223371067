import type { LedgerSettings } from "../config/settings.ts";
import type { ServerHealth } from "../ledger/postgres/health.ts";
import {
  type CheckContext,
  check,
  type Finding,
  failed,
  passed,
  skipped,
  type Verdict,
  warning,
} from "./finding.ts";

/** Checks a ledger on PostgreSQL; without a connection only the first check says why. */
export async function* checkLedgerServer(
  { url: { value: url } }: LedgerSettings,
  { ledger }: CheckContext,
): AsyncIterable<Finding> {
  let health: ServerHealth | undefined;
  yield await check("ledger", async () => {
    health = await (await ledger.maintenance()).serverHealth?.();
    return health ? content(health) : skipped("The ledger is a file of this machine.");
  });
  const found = health;
  const checks: Record<string, (health: ServerHealth) => Verdict> = {
    "ledger-connection": ({ serverVersion }) => {
      const version = `${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000}`;
      const how = url.isLocal ? "on this machine, without TLS" : "over TLS, verified";
      return passed(`PostgreSQL ${version} responds ${how}: ${url.text}.`);
    },
    "ledger-role": role,
    "ledger-clock": clock,
    "ledger-durability": durability,
  };
  for (const [name, examine] of Object.entries(checks))
    yield found
      ? await check(name, () => examine(found))
      : { check: name, ...skipped("Not checked, because the ledger cannot be reached.") };
}

function content({ unaccepted, uncertainCount }: ServerHealth): Verdict {
  if (unaccepted)
    return failed(unaccepted.message, unaccepted.details.hint ?? "Run 'lenden ledger check'.");
  const contained = "The ledger contains all that this machine has seen.";
  if (uncertainCount === 0) return passed(`${contained} No outcome is unknown.`);
  return warning(
    `${contained} Operations with an unknown outcome: ${uncertainCount}.`,
    "Run 'lenden ledger resolve'.",
  );
}

function role({ login, mayWrite, mayChangeEvents }: ServerHealth): Verdict {
  if (!mayWrite)
    return failed(
      `The login ${login} may not record operations.`,
      `Ask the database administrator for 'GRANT lenden_writer TO ${login}'.`,
    );
  return mayChangeEvents
    ? warning(
        `The login ${login} may change and delete events.`,
        "Use a login that is only a member of lenden_writer, not the owner of the tables.",
      )
    : passed(`The login ${login} may add events, and not change them.`);
}

/** Larger differences confuse the order of events and the pauses before payouts are sent again. */
const toleratedMs = 5_000;

function clock({ serverNowMs, localNowMs }: ServerHealth): Verdict {
  const offMs = localNowMs - serverNowMs;
  const seconds = Math.round(Math.abs(offMs) / 1_000);
  if (seconds === 0) return passed("This machine's clock agrees with the server's.");
  const message = `This machine's clock is ${seconds} s ${offMs > 0 ? "ahead of" : "behind"} the server's.`;
  return Math.abs(offMs) <= toleratedMs
    ? passed(message)
    : warning(message, "Set the clocks of all machines with NTP.");
}

function durability(facts: ServerHealth): Verdict {
  const problems = [
    ...(facts.isReplica ? ["it is a replica"] : []),
    ...(facts.isReadOnly ? ["it is read-only"] : []),
    ...(facts.isDurable ? [] : ["fsync is off"]),
  ];
  if (problems.length > 0)
    return failed(
      `Nothing is sent with this server: ${problems.join("; ")}.`,
      "Use the primary server with fsync=on.",
    );
  return passed(`The server stores each commit (synchronous_commit=${facts.synchronousCommit}).`);
}
