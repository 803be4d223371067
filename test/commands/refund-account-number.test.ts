import { describe, expect, test } from "vitest";
import { openMerchant, paidPayment } from "../merchant.ts";
import { openTerminal, terminalTest } from "../terminal/terminal.ts";

const almostMobile = [
  "0171234567",
  "017123456789",
  "+880171234567",
  "880171234567",
  "8801712-3456789",
  "1712345678",
  "171234567",
];
const otherNumbers = [
  "01712345678",
  "+8801712345678",
  "01712-345678",
  "2001234567890",
  "AB-0171234567",
];

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
    for (const [index, accountNumber] of almostMobile.entries()) {
      const { code, stderr } = await lenden(refundTo(accountNumber, `${index + 1}`));
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `The account number "${accountNumber}" looks like a mobile number with a digit missing or added. A mobile number is 01XXXXXXXXX.\n`,
      });
    }
    const sent = (await books("refunds")).map(({ accountNumber }) => accountNumber);
    expect(sent).toEqual(almostMobile);
  });

  test("puts the warning into the result with --json, and not on stderr", async () => {
    const { lenden, refundTo, payment } = await setup();
    const { stdout, stderr } = await lenden([...refundTo("0171234567"), "--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      transactionId: payment,
      status: "Processing",
      warnings: [
        {
          reason: "refund.account-number-length",
          message: expect.stringContaining(`"0171234567" looks like a mobile number`),
        },
      ],
    });
  });

  test("prints the warning on stderr with --quiet, beside the ID on stdout", async () => {
    const { lenden, refundTo } = await setup();
    const { stdout, stderr } = await lenden([...refundTo("0171234567"), "--quiet"]);
    expect(stdout).toMatch(/^\S+\n$/);
    expect(stderr).toMatch(/^The account number /);
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

  terminalTest("is sent in a terminal only after a yes", async () => {
    const { env, refundTo, books } = await setup();
    const no = await openTerminal(refundTo("0171234567"), { env });
    await no.shows('Warning: The account number "0171234567" looks like');
    await no.answer("Send the refund to 0171234567 anyway? (y/N)", "");
    const { code, screen } = await no.ended();
    expect(code).toBe(4);
    expect(screen).toContain("error: Not confirmed. Nothing was sent.");
    expect(await books("refunds")).toEqual([]);

    const yes = await openTerminal(refundTo("0171234567"), { env });
    await yes.answer("Send the refund to 0171234567 anyway? (y/N)", "y");
    expect((await yes.ended()).code).toBe(0);
    expect(await books("refunds")).toHaveLength(1);
  });

  terminalTest("is sent in a terminal without a question with --yes", async () => {
    const { env, refundTo } = await setup();
    const terminal = await openTerminal([...refundTo("0171234567"), "--yes"], { env });
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toContain("The account number");
    expect(screen).not.toContain("?");
  });
});

test("refund create to a whole mobile number or any other account number warns of nothing", async () => {
  const { lenden, refundTo } = await setup();
  for (const [index, accountNumber] of otherNumbers.entries()) {
    const { code, stdout, stderr } = await lenden([
      ...refundTo(accountNumber, `${index + 1}`),
      "--json",
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).not.toHaveProperty("warnings");
  }
});
