import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { payoutOf } from "../support/merchant.ts";
import { answering } from "../support/server.ts";

const json = (text: string) => JSON.stringify({ success: false, message: text });
const page = "<h1>Forbidden</h1>";
const methods = JSON.stringify({
  success: true,
  data: [{ id: "bkash", providerName: "bKash", codeName: "bkash" }],
});

/** An API whose first response to a payout is a 500, and every later one a rejection. */
async function rejectingLater(status: number, body: string) {
  let creations = 0;
  const { baseUrl } = await answering(({ method }) => {
    if (method === "GET") return { status: 200, body: methods };
    creations += 1;
    return creations === 1 ? { status: 500, body: "" } : { status, body };
  });
  const env = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-xyz",
    LENDEN_PAYOUT_SECRET: "a-payout-secret",
    LENDEN_CONFIG_DIR: scratchFolder(),
  };
  return { env, creations: () => creations };
}

describe("P17b: a rejection after an attempt whose outcome is unknown", () => {
  test.each([
    [400, json("Insufficient balance"), "Insufficient balance", "--created <id>'"],
    [200, json("Insufficient balance"), "Insufficient balance", "--created <id>'"],
    [401, json("Unknown API key"), "Unknown API key", "Check the API key"],
    [403, json("IP not allowed"), "IP not allowed", "IP address"],
    [403, page, "403", "IP address"],
  ])("leaves the payout UNCERTAIN after %i %s", async (status, body, message, hint) => {
    const { env, creations } = await rejectingLater(status, body);

    const { code, stdout, stderr } = await lenden(payoutOf("LATER-1"), {
      env,
      host: jumpingHost(),
    });

    expect([code, stdout]).toEqual([75, ""]);
    expect(stderr).toContain(message);
    expect(stderr).toContain("Outcome unknown: money may have moved.");
    expect(stderr).toMatch(/^hint: .*'lenden ledger resolve LATER-1/m);
    expect(stderr).toContain(hint);
    expect(creations()).toBe(2);
    const shown = await lenden(["ledger", "show", "LATER-1", "--json"], { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      state: "UNCERTAIN",
      message: expect.stringContaining(message),
    });
  });
});
