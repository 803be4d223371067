import { describe, expect, test } from "vitest";
import { errorOf } from "../support/lenden.ts";
import { openMerchant, paidPayment } from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";

const almostMobile = "0171234567 017123456789 +880171234567 8801712-3456789 1712345678 171234567";
const otherNumbers = "01712345678 +8801712345678 01712-345678 2001234567890 AB-0171234567";
const reason = "refund.account-number-length";

/** A merchant with a payment that can be refunded. */
async function setup() {
  const merchant = await openMerchant();
  const payment = await paidPayment(merchant);
  return {
    ...merchant,
    payment,
    refundTo: (accountNumber: string, amount = "1") => [
      ...["refund", "create", "--payment", payment, "--amount", amount],
      ...["--account-type", "personal", "--account-number", accountNumber],
    ],
  };
}

const asIs = "--account-number-as-is";
const rejection = {
  reason: "usage.invalid",
  effect: "nothing-sent",
  message: expect.stringMatching(
    /^--account-number: .* looks like a mobile number with a digit missing or added\..* --account-number-as-is\.$/,
  ),
};

describe("refund create to an account number with a digit missing or added", () => {
  test("is rejected non-interactively, also with --yes, and in a dry run", async () => {
    const { lenden, refundTo, books, requests } = await setup();
    const { length } = await requests();
    const lines = almostMobile.split(" ").map((accountNumber) => refundTo(accountNumber));
    for (const line of [...lines, [...refundTo("0171234567"), "--dry-run"]])
      for (const more of [[], ["--yes"]]) {
        const outcome = await lenden([...line, ...more, "--json"]);
        expect(outcome).toMatchObject({ code: 2, stdout: "" });
        expect(errorOf(outcome)).toMatchObject(rejection);
      }
    expect(await books("refunds")).toEqual([]);
    expect(await requests()).toHaveLength(length);
  });

  test("is reported with all other problems", async () => {
    const { lenden, refundTo } = await setup();
    const { code, stderr } = await lenden(refundTo("0171234567", "1,250"));
    expect(code).toBe(2);
    expect(stderr).toMatch(/--amount: [\s\S]*--account-number: /);
  });

  test("is sent as typed with --account-number-as-is, with a warning", async () => {
    const { lenden, refundTo, books } = await setup();
    const numbers = almostMobile.split(" ");
    for (const [index, accountNumber] of numbers.entries()) {
      const { code, stderr } = await lenden([...refundTo(accountNumber, `${index + 1}`), asIs]);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `The account number "${accountNumber}" looks like a mobile number with a digit missing or added. A mobile number is 01XXXXXXXXX.\n`,
      });
    }
    const sent = (await books("refunds")).map(({ accountNumber }) => accountNumber);
    expect(sent).toEqual(numbers);
  });

  test("has the warning in a JSON result, or on stderr beside an ID alone", async () => {
    const { lenden, refundTo } = await setup();
    const json = await lenden([...refundTo("0171234567"), asIs, "--json"]);
    expect(json.stderr).toBe("");
    expect(JSON.parse(json.stdout)).toMatchObject({ warnings: [{ reason }] });
    const quiet = await lenden([...refundTo("0171234567", "2"), asIs, "--quiet"]);
    expect(quiet.stdout).toMatch(/^\S+\n$/);
    expect(quiet.stderr).toMatch(/^The account number /);
    const both = await lenden([...refundTo("0171234567", "3"), asIs, "--quiet", "--json"]);
    expect(both.stdout).toMatch(/^\S+\n$/);
    expect(JSON.parse(both.stderr)).toMatchObject({ warnings: [{ reason }] });
  });

  test("is rejected in a raw call too", async () => {
    const { lenden, payment, books } = await setup();
    const fields = { transactionId: payment, amount: "5", accountType: "PERSONAL_ACCOUNT" };
    const raw = [
      ...["api", "POST", "/refund/create-a-request", "-f", "accountNumber=0171234567"],
      ...Object.entries(fields).flatMap(([name, value]) => ["-f", `${name}=${value}`]),
    ];
    const rejected = await lenden([...raw, "--json"]);
    expect(rejected.code).toBe(2);
    expect(errorOf(rejected)).toMatchObject({
      reason: "raw.invalid-body",
      message: expect.stringContaining(asIs),
    });
    expect(await books("refunds")).toEqual([]);
    const { code, stderr } = await lenden([...raw, asIs]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^The account number "0171234567"/);
    expect(await books("refunds")).toMatchObject([{ accountNumber: "0171234567" }]);
  });

  test("is rejected in a terminal, and asked for again at its prompt", async () => {
    const { env, payment, refundTo, books } = await setup();
    const given = await openPrompts(refundTo("0171234567"), { env }).ended();
    expect(given.code).toBe(2);
    expect(given.screen).toContain("--account-number-as-is");
    const line = ["refund", "create", "--payment", payment, "--amount", "1"];
    const terminal = openPrompts([...line, "--account-type", "personal"], { env });
    await terminal.answer("Refund to account number", "0171234567");
    await terminal.answer(/a digit missing[\s\S]*\n\? Refund to account/, "01712345678");
    await terminal.answer("Note", "");
    await terminal.answer("Create a refund?", "y");
    expect((await terminal.ended()).code).toBe(0);
    expect(await books("refunds")).toMatchObject([{ accountNumber: "01712345678" }]);
  });
});

test("refund create to any other account number shows no warning", async () => {
  const { lenden, refundTo } = await setup();
  for (const [index, accountNumber] of otherNumbers.split(" ").entries()) {
    const line = [...refundTo(accountNumber, `${index + 1}`), "--json"];
    const { code, stdout, stderr } = await lenden(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).not.toHaveProperty("warnings");
  }
});
