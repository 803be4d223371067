import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Host } from "../../src/platform/host.ts";
import { lenden } from "../support/lenden.ts";
import { answering } from "../support/server.ts";

const deadlineMs = 300;
const env = { LENDEN_API_KEY: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ" };

/** The deadline is as it is, every pause between two tries a third of what it is. */
const host: Pick<Host, "sleep"> = {
  sleep: (ms, signal) =>
    delay(ms === deadlineMs ? ms : ms / 3, undefined, signal ? { signal } : {}).catch(() => {}),
};
const timeout = ["--timeout", `${deadlineMs}ms`];

test.each([
  [
    "a read that is asked to wait",
    ["pay", "get", "TX1"],
    { status: 429, headers: { "retry-after": "5" }, body: "{}" },
  ],
  ["a cancellation of unknown outcome", ["refund", "cancel", "RF1"], { status: 503, body: "{}" }],
])("--timeout limits the attempts of %s", async (_, line, reply) => {
  const { baseUrl, asked } = await answering(() => reply);
  const own = { env: { ...env, LENDEN_BASE_URL: baseUrl }, host };
  await lenden([...line, ...timeout], own);
  const inTime = asked.splice(0).length;
  await lenden(line, own);
  expect(inTime).toBeLessThan(asked.length);
});

test("a cancellation stays unknown if the next attempt was not sent", async () => {
  let answered = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const { baseUrl, asked } = await answering(() => {
    answered();
    return { status: 503, body: "{}" };
  });
  const { code, stderr } = await lenden(["refund", "cancel", "RF1", ...timeout], {
    env: { ...env, LENDEN_BASE_URL: baseUrl },
    host: {
      sleep: async (ms, signal) => {
        // On a busy machine the deadline must not pass before the first attempt.
        if (ms === deadlineMs) await isAnswered;
        await host.sleep(ms, signal);
      },
    },
  });
  expect(asked[0]).toBe("PATCH /cp/api/v1/refund/cancel-by-platform/RF1");
  expect(stderr).not.toMatch(/nothing was sent/i);
  expect(code).toBe(75);
});
