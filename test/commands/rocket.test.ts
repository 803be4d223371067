import { afterAll, beforeEach, expect, test } from "vitest";
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

test("the help of formats names account numbers of Rocket", async () => {
  const { stdout } = await lenden(["help", "formats"]);
  expect(stdout).toContain("Rocket");
});
