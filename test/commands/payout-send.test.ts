import { expect, test } from "vitest";
import { lenden } from "../run.ts";

const nowhere = {
  LENDEN_BASE_URL: "http://127.0.0.1:9",
  LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-xyz",
};

test("P1: a bad amount, number, reference and method are all named at once, without any network", async () => {
  const line = ["payout", "send", "--amount", "1,250", "--to", "1712345678", "--ref", "a:b"];
  const { code, stdout, stderr } = await lenden(line, { env: nowhere });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  for (const flag of ["--amount:", "--to:", "--ref:", "--method is missing"]) {
    expect(stderr).toContain(flag);
  }
  expect(stderr).toContain("Did you mean 1250?");
  expect(stderr).toContain("a leading zero was lost");
});

test("P2: without a payout secret it says where it looked, and sends nothing", async () => {
  const line = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method-id", "m"];
  const { code, stdout, stderr } = await lenden(line, { env: nowhere });
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(stderr).toContain("no payout secret (tried: LENDEN_PAYOUT_SECRET, no profile is in use)");
});
