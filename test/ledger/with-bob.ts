import { owner } from "./small-ledger.ts";
import type { SharedDatabase } from "./stores.ts";

const startMs = Date.parse("2026-11-20T10:00:00.000Z");
const hourMs = 3_600_000;

/** A ledger with a clock. What runs as bob gets his login. */
export async function withBob(shared: SharedDatabase) {
  let nowMs = startMs;
  const now = () => nowMs++;
  const next = { ...owner, keyId: "next", account: { joins: "shop", proposed: "shop" } };
  const ledger = await shared.open({ now });
  const withNextKey = await shared.open({ now, owner: next });
  const asAgent = await shared.open({ now, actor: "agent" });
  const as = async <Result>(login: string, work: () => Promise<Result>): Promise<Result> => {
    const [before] = await shared.run("SELECT coalesce(max(number), 0) AS number FROM events");
    const result = await work();
    const number = String(Object(before).number);
    await shared.run(`UPDATE events SET login = '${login}' WHERE number > ${number}`);
    return result;
  };
  const asBob = <Result>(work: () => Promise<Result>) => as("bob", work);
  const pass = (hours: number) => {
    nowMs += hours * hourMs;
  };
  return { ledger, withNextKey, asAgent, as, asBob, pass };
}
