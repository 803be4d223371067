import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { lenden } from "../support/lenden.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";

/*
 * Account numbers of Rocket: the mobile number and a check digit.
 */

const account = "017123456784";
const mobile = "01712345678";

let merchant: Merchant;
beforeEach(async () => {
  merchant = await openMerchant({}, afterAll);
});

const payoutTo = (to: string, method = "rocket", ...others: string[]) => [
  ...["payout", "send", "--amount", "500", "--to", to, "--method", method],
  ...others,
];

async function paidNumbers(): Promise<unknown[]> {
  return (await merchant.books("payouts")).map(({ recipientNumber }) => recipientNumber);
}

test.each(["rocket", "Rocket", "665f1c2ab8e6"])(
  "payout send --method %s sends an account number with its check digit",
  async (method) => {
    const { code, stderr } = await merchant.lenden(payoutTo(account, method, "--ref", "R-1"));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await paidNumbers()).toEqual([account]);
    const got = await merchant.lenden(["payout", "get", "@last"]);
    expect({ code: got.code, stderr: got.stderr }).toEqual({ code: 0, stderr: "" });
    const listed = await merchant.lenden(["payout", "list", "--to", mobile, "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ recipientNumber: account }]);
  },
);

test.each(["bkash", "665f1c2ab8e4"])(
  "payout send --method %s rejects an account number of Rocket",
  async (method) => {
    const { code, stderr } = await merchant.lenden(payoutTo(account, method));
    expect(code).toBe(2);
    expect(stderr).toContain(`--to: The number "${account}" has 12 digits, as account numbers`);
    expect(await paidNumbers()).toEqual([]);
  },
);

test("payout send --dry-run shows the account number without a list of methods", async () => {
  const { code, stdout } = await merchant.lenden([...payoutTo(account), "--dry-run", "--json"]);
  expect(code).toBe(0);
  expect(stdout).toContain(account);
});

test.each([
  [account, "rocket", mobile, "bkash"],
  [mobile, "rocket", account, "rocket"],
])("after a payout to %s (%s), one to %s (%s) is a duplicate", async (first, by, second, than) => {
  expect(await merchant.lenden(payoutTo(first, by))).toMatchObject({ code: 0 });
  const again = await merchant.lenden(payoutTo(second, than));
  expect(again).toMatchObject({ code: 3, stdout: "" });
  expect(again.stderr).toContain("Duplicate payout");
  const file = fileOf(`amount,to,method\n500,${second},${than}\n`);
  const checked = await merchant.lenden(["payout", "batch", "check", file]);
  expect(checked.code).toBe(2);
  expect(checked.stdout + checked.stderr).toContain("A payout of the same amount");
  expect(await paidNumbers()).toEqual([first]);
});

test("a batch pays account numbers of Rocket once, and names both forms as one recipient", async () => {
  const csv = "name,to,amount,method\nRahima,017123456784,18500,rocket\n";
  const file = fileOf(csv);
  const send = ["payout", "batch", "send", file, "--yes"];
  expect(await merchant.lenden(["payout", "batch", "check", file])).toMatchObject({ code: 0 });
  expect(await merchant.lenden(send)).toMatchObject({ code: 0 });
  expect(await merchant.lenden(send)).toMatchObject({ code: 0 });
  expect(await paidNumbers()).toEqual([account]);
  const both = fileOf(`${csv}Rahima,${mobile},18500,bkash\n`.replaceAll("18500", "7"), "both.csv");
  const checked = await merchant.lenden(["payout", "batch", "check", both]);
  expect(checked.code).toBe(2);
  expect(checked.stdout + checked.stderr).toContain("Same recipient and amount as on line 2");
  const others = fileOf(csv.replace("rocket", "bkash"), "others.csv");
  const rejected = await merchant.lenden(["payout", "batch", "check", others]);
  expect(rejected.code).toBe(2);
  expect(rejected.stdout + rejected.stderr).toContain(
    "has 12 digits, as account numbers of Rocket",
  );
});

test("a file whose check digits were added is not sent as a new batch of its name", async () => {
  const csv = `to,amount,method\n${mobile},18500,rocket\n`;
  const file = fileOf(csv);
  const send = ["payout", "batch", "send", "--yes"];
  expect(await merchant.lenden([...send, file])).toMatchObject({ code: 0 });
  const changed = await merchant.lenden([...send, fileOf(csv.replace(mobile, account))]);
  expect(changed.code).toBe(5);
  expect(await paidNumbers()).toEqual([mobile]);
});

test.each([
  ["665f1c2ab8e6", 0, [account]],
  ["665f1c2ab8e4", 2, []],
])("api POST with an account number and method %s ends with %d", async (method, code, paid) => {
  const fields = {
    ...{ amount: 500, merchantRef: "RAW-1", recipientNumber: account },
    paymentMethodId: method,
  };
  const line = Object.entries(fields).flatMap(([name, value]) => ["-f", `${name}=${value}`]);
  const ended = await merchant.lenden([
    "api",
    "POST",
    "/payout/create-by-server",
    ...line,
    "--yes",
  ]);
  expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code });
  expect(await paidNumbers()).toEqual(paid);
});

describe("--account-number-as-is", () => {
  const asIs = "--account-number-as-is";
  const warning = (number: string) => `Not a mobile number, and sent as typed: "${number}"`;

  test.each([account, "1712345678", "20012345678901", "+8801-712"])(
    "payout send accepts %s, and sends it as typed",
    async (number) => {
      const line = payoutTo(number, "bkash", "--ref", "A-1");
      expect(await merchant.lenden(line)).toMatchObject({ code: 2 });
      const { code, stderr } = await merchant.lenden([...line, asIs]);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining(warning(number)),
      });
      expect(await paidNumbers()).toEqual([number]);
      expect(await merchant.lenden(["payout", "get", "@last"])).toMatchObject({ code: 0 });
      const second = await merchant.lenden([...payoutTo(number, "bkash"), asIs]);
      expect(second).toMatchObject({ code: 3 });
    },
  );

  test.each(["20012345678901", "+8801-712", account])(
    "api sends %s as typed without the spaces around it, with a warning",
    async (number) => {
      const fields = {
        ...{ amount: 500, merchantRef: "RAW-2", recipientNumber: ` ${number} ` },
        paymentMethodId: "665f1c2ab8e4",
      };
      const line = Object.entries(fields).flatMap(([name, value]) => ["-f", `${name}=${value}`]);
      const post = ["api", "POST", "/payout/create-by-server", ...line, "--yes"];
      expect(await merchant.lenden(post)).toMatchObject({ code: 2 });
      const sent = await merchant.lenden([...post, asIs]);
      expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining(warning(number)) });
      expect(await paidNumbers()).toEqual([number]);
    },
  );

  test("payout send changes nothing of a mobile number, and accepts no text", async () => {
    const sent = await merchant.lenden([
      ...payoutTo(`+88${mobile}`, "bkash", "--ref", "A-2"),
      asIs,
    ]);
    expect({ code: sent.code, stderr: sent.stderr }).toEqual({ code: 0, stderr: "" });
    expect(await paidNumbers()).toEqual([mobile]);
    for (const text of ["Rahima", "8.80E+12", "০১৭১২৩৪৫৬৭"])
      expect(await merchant.lenden([...payoutTo(text, "bkash"), asIs])).toMatchObject({ code: 2 });
  });

  test("a batch is cleaned, checked, sent and resumed", async () => {
    const [one, other] = ["20012345678901", "99912345678901"];
    const payroll = fileOf(`Name,Mobile,Pay\nA, ${one},500\nB,${mobile},600\n`);
    const file = fileOf("", "clean.csv");
    const batch = (verb: string, path: string, ...more: string[]) =>
      merchant.lenden(["payout", "batch", verb, path, ...more]);
    const clean = ["--write", file, "--yes"];
    expect(await batch("clean", payroll, ...clean)).toMatchObject({ code: 2 });
    const cleaned = await batch("clean", payroll, ...clean, asIs);
    expect(cleaned).toMatchObject({ code: 0, stdout: expect.stringContaining(`check ${asIs}`) });
    const how = ["--method", "bkash"];
    for (const verb of ["check", "send"]) {
      expect(await batch(verb, file, ...how, "--yes")).toMatchObject({ code: 2 });
      const done = await batch(verb, file, ...how, asIs, ...(verb === "send" ? ["--yes"] : []));
      expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining(warning(one)) });
    }
    expect(await paidNumbers()).toEqual([one, mobile]);
    for (const more of [[], [asIs]])
      expect(await batch("send", file, ...how, "--yes", ...more)).toMatchObject({ code: 0 });
    expect(await paidNumbers()).toHaveLength(2);
    // The last eleven digits are the same, and the number is another one.
    writeFileSync(file, readFileSync(file, "utf8").replace(one, other));
    expect(await batch("send", file, ...how, "--yes", asIs)).toMatchObject({ code: 5 });
    expect(await paidNumbers()).toHaveLength(2);
  });

  test("a reference belongs to all digits of an account number", async () => {
    const [one, other] = ["20012345678901", "99912345678901"];
    const to = (number: string) => [...payoutTo(number, "bkash", "--ref", "A-3"), asIs];
    for (let count = 0; count < 2; count += 1)
      expect(await merchant.lenden(to(one))).toMatchObject({ code: 0 });
    expect(await merchant.lenden(to(other))).toMatchObject({ code: 5, stdout: "" });
    const batch = (number: string) => {
      const file = fileOf(`ref,to,amount,method\nA-3,${number},500,bkash\n`);
      return merchant.lenden(["payout", "batch", "check", file, asIs]);
    };
    expect(await batch(one)).toMatchObject({ code: 0 });
    const rejected = await batch(other);
    expect(rejected.code).toBe(5);
    expect(rejected.stdout + rejected.stderr).toContain("A-3");
    expect(await paidNumbers()).toEqual([one]);
  });

  test.each([
    ["8801710000000", "rounded"],
    ["1710000000", "rounded"],
    ["1712345678", "leading zero was lost"],
  ])("a batch rejects the mobile number %s, because it lost digits", async (number, why) => {
    const file = fileOf(`name,to,amount,method\nA,${number},500,bkash\n`);
    const checked = await merchant.lenden(["payout", "batch", "check", file, asIs]);
    expect(checked).toMatchObject({ code: 2 });
    expect(checked.stdout + checked.stderr).toContain(why);
    const cleaned = await merchant.lenden(["payout", "batch", "clean", file, asIs]);
    expect(cleaned.stdout).not.toContain(`A,"${number}"`);
  });
});

test("the help of formats names account numbers of Rocket", async () => {
  const { stdout } = await lenden(["help", "formats"]);
  expect(stdout).toContain("Rocket");
});
