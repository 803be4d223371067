import { describe, expect, test } from "vitest";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { closedPort } from "../support/server.ts";

const envOf = (baseUrl: string) => ({
  LENDEN_BASE_URL: baseUrl,
  LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-xyz",
  LENDEN_PAYOUT_SECRET: "a-payout-secret",
});

describe("the hint after a connection failed", () => {
  test.each([
    ["a read", ["pay", "get", "TX1"]],
    ["a payment", "pay create --amount 5 --description x --method-id M1".split(" ")],
    ["a payout", "payout send --amount 5 --to 01712345678 --method-id M1".split(" ")],
    ["a raw call", ["api", "GET", "/payment/methods"]],
  ])("names the local sandbox for a loopback URL: %s", async (_, line) => {
    const port = await closedPort();
    const { code, stderr } = await lenden(line, {
      env: envOf(`http://127.0.0.1:${port}`),
      host: jumpingHost(),
    });
    expect(code).toBe(69);
    expect(stderr).toContain(`'lenden sandbox start --port ${port}'`);
  });

  test.each(["https://127.0.0.1", "https://nowhere.invalid"])(
    "names the network for any other URL: %s",
    async (origin) => {
      const baseUrl = origin.endsWith("invalid") ? origin : `${origin}:${await closedPort()}`;
      const { code, stderr } = await lenden(["pay", "get", "TX1"], {
        env: envOf(baseUrl),
        host: jumpingHost(),
      });
      expect(code).toBe(69);
      expect(stderr).toContain("hint:  Check the base URL, the network and HTTPS_PROXY");
    },
  );
});
