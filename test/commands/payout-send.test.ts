import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";
import { answering } from "../support/server.ts";

const nowhere = {
  LENDEN_BASE_URL: "http://127.0.0.1:9",
  LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-xyz",
};

test("P1: payout send reports an invalid amount, number, reference and method together, without a request", async () => {
  const line = ["payout", "send", "--amount", "1,250", "--to", "1712345678", "--ref", "a:b"];
  const { code, stdout, stderr } = await lenden(line, { env: nowhere });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  for (const flag of ["--amount:", "--to:", "--ref:", "Missing required flag --method"]) {
    expect(stderr).toContain(flag);
  }
  expect(stderr).toContain("Did you mean 1250?");
  expect(stderr).toContain("a leading zero was lost");
});

test("P2: payout send without a payout secret names the sources it checked, and sends nothing", async () => {
  const line = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method-id", "m"];
  const { code, stdout, stderr } = await lenden(line, { env: nowhere });
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(stderr).toContain(
    "No payout secret: LENDEN_PAYOUT_SECRET is not set, and no profile is in use.",
  );
});

test("payout send shows no reference that it created for a payout that is not recorded", async () => {
  const merchant = await openMerchant();
  const send = "payout send --amount 5 --to 01712345678 --method".split(" ");
  await merchant.close();
  const unreachable = await merchant.lenden([...send, "bkash", "--json"]);
  expect(unreachable.code).toBe(69);
  expect(JSON.parse(unreachable.stderr).error).not.toHaveProperty("operation");
  await merchant.comeBack();
  const { code, stderr } = await merchant.lenden([...send, "unknown"]);
  expect([code, stderr]).toEqual([2, expect.not.stringContaining("LD-")]);
});

test("payout send shows no reference that it created for a rejected duplicate", async () => {
  const merchant = await openMerchant();
  const send = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method", "bkash"];
  const first = await merchant.lenden(send);
  const second = await merchant.lenden(send);
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("Reference: LD-")]);
  expect([second.code, second.stderr]).toEqual([3, expect.stringContaining("Duplicate payout")]);
  expect(second.stderr).not.toContain("Reference:");
});

test("an API key in a response is not stored in the ledger", async () => {
  const folder = scratchFolder();
  const key = "sk_sandbox_abc-CanaryInside-xyz";
  const { baseUrl } = await answering(() => ({ body: `garbage with ${key} in it` }));
  const env = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: "secret-of-another",
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: folder,
  };
  const line = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method-id", "m"];
  const { code } = await lenden([...line, "--ref", "ECHO"], { env, host: jumpingHost() });
  expect(code).toBe(75);
  const files = readdirSync(folder).filter((name) => name !== "processes");
  const kept = files.map((name) => readFileSync(join(folder, name), "latin1"));
  expect(kept.join("")).toContain("garbage with");
  expect(kept.join("")).not.toContain("CanaryInside");
});
