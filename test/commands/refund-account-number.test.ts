import { describe, expect, test } from "vitest";
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

describe("refund create to an account number with a digit missing or added", () => {
  test("prints a warning non-interactively and sends the number as typed", async () => {
    const { lenden, refundTo, books } = await setup();
    const numbers = almostMobile.split(" ");
    for (const [index, accountNumber] of numbers.entries()) {
      const { code, stderr } = await lenden(refundTo(accountNumber, `${index + 1}`));
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `The account number "${accountNumber}" looks like a mobile number with a digit missing or added. A mobile number is 01XXXXXXXXX.\n`,
      });
    }
    const sent = (await books("refunds")).map(({ accountNumber }) => accountNumber);
    expect(sent).toEqual(numbers);
  });

  test("shows the warning in a JSON result, or on stderr beside an ID alone", async () => {
    const { lenden, refundTo } = await setup();
    const json = await lenden([...refundTo("0171234567"), "--json"]);
    expect(json.stderr).toBe("");
    expect(JSON.parse(json.stdout)).toMatchObject({ warnings: [{ reason }] });
    const quiet = await lenden([...refundTo("0171234567", "2"), "--quiet"]);
    expect(quiet.stdout).toMatch(/^\S+\n$/);
    expect(quiet.stderr).toMatch(/^The account number /);
    const both = await lenden([...refundTo("0171234567", "3"), "--quiet", "--json"]);
    expect(both.stdout).toMatch(/^\S+\n$/);
    expect(JSON.parse(both.stderr)).toMatchObject({ warnings: [{ reason }] });
  });

  test("prints the warning for a raw call too", async () => {
    const { lenden, payment } = await setup();
    const fields = { transactionId: payment, amount: "5", accountType: "PERSONAL_ACCOUNT" };
    const { code, stderr } = await lenden([
      ...["api", "POST", "/refund/create-a-request", "-f", "accountNumber=0171234567"],
      ...Object.entries(fields).flatMap(([name, value]) => ["-f", `${name}=${value}`]),
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^The account number "0171234567"/);
  });

  test("is sent in a terminal only after a yes, or with --yes", async () => {
    const { env, refundTo, books } = await setup();
    const no = openPrompts(refundTo("0171234567"), { env });
    await no.answer("Send the refund to 0171234567 anyway? (y/N)", "");
    const { code, screen } = await no.ended();
    expect(code).toBe(4);
    expect(screen).toContain("error: Not confirmed. Nothing was sent.");
    expect(await books("refunds")).toEqual([]);

    const yes = openPrompts(refundTo("0171234567"), { env });
    await yes.answer("Send the refund to 0171234567 anyway? (y/N)", "y");
    expect((await yes.ended()).code).toBe(0);
    const given = openPrompts([...refundTo("0171234567", "2"), "--yes"], { env });
    expect((await given.ended()).screen).not.toContain("?");
    expect(await books("refunds")).toHaveLength(2);
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
