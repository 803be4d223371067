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

  test("leaves it UNCERTAIN if the earlier attempt was made by an earlier run", async () => {
    const { env } = await rejectingLater(400, json("Insufficient balance"));
    const send = payoutOf("LATER-1", "--timeout", "1500ms");
    expect((await lenden(send, { env })).code).toBe(75);

    const { code, stderr } = await lenden(["ledger", "resolve", "LATER-1"], {
      env,
      host: jumpingHost(),
    });

    expect(code).toBe(75);
    expect(stderr).toContain("Insufficient balance");
    expect(stderr).toContain("'lenden ledger resolve LATER-1 --not-created'");
  });

  test("leaves a raw call UNCERTAIN, with the message of the API", async () => {
    const { env } = await rejectingLater(400, json("Insufficient balance"));
    const fields = ["amount=5", "merchantRef=RAW", "recipientNumber=01712345678"];
    const call = [...fields, "paymentMethodId=bkash"].flatMap((one) => ["-f", one]);
    const post = ["api", "POST", "/payout/create-by-server", ...call];
    const run = () => lenden(post, { env, host: jumpingHost() });
    expect((await run()).code).toBe(75);

    const { code, stderr } = await run();

    expect(code).toBe(75);
    expect(stderr).toContain("Insufficient balance");
    expect(stderr).toContain("'lenden ledger resolve RAW --created <id>'");
    const { stdout } = await lenden(["ledger", "show", "RAW", "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      state: "UNCERTAIN",
      message: expect.stringContaining("Insufficient balance"),
    });
  });
});
