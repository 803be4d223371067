import { expect, test } from "vitest";
import type { Host } from "../../src/platform/host.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { payoutOf } from "../support/merchant.ts";
import { startService } from "../support/server.ts";

const hourMs = 60 * 60_000;

/** An API that is always overloaded, and the times at which it was asked for a payout. */
async function overloaded(host: Pick<Host, "now" | "sleep">) {
  const atMs: number[] = [];
  const { env } = await startService(({ method }) => {
    if (method === "GET") return { data: [{ id: "bkash", providerName: "b", codeName: "bkash" }] };
    atMs.push(host.now());
    return { status: 503, data: {} };
  });
  return { atMs, run: (args: string[]) => lenden(args, { env, host }) };
}

/** Its machine falls asleep for 26 hours in the first pause. */
function sleepyHost(): Pick<Host, "now" | "sleep"> {
  const host = jumpingHost();
  let asleepMs = 0;
  return {
    now: () => host.now() + asleepMs,
    sleep: async (ms, signal) => {
      await host.sleep(ms, signal);
      asleepMs = 26 * hourMs;
    },
  };
}

test("P25: a payout whose outcome is unknown is not sent when the machine wakes a day later", async () => {
  const { atMs, run } = await overloaded(sleepyHost());
  const sent = await run(payoutOf("ASLEEP", "--timeout", "100h"));
  expect(sent).toMatchObject({ code: 75, stderr: expect.stringContaining("over 24 hours") });
  expect(atMs).toHaveLength(1);
});
