import { afterAll, beforeAll, expect, test } from "vitest";
import type { Merchant } from "../support/merchant.ts";
import { merchantWithPayouts, reconciledBy } from "./small-statement.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await merchantWithPayouts(
    [
      ["SAL-1", "1250.50", "01712345678"],
      ["SAL-2", "500", "01812345678"],
    ],
    afterAll,
  );
});

const payouts = ["T1,B2C payment SAL-1,1250.50,", "T3,B2C payment SAL-2,500,"];

async function resultOf(line: string, header = "Transaction ID,Details,Debit,Credit") {
  const { code, found } = await reconciledBy(merchant, [header, ...payouts, line]);
  return { code, result: found.lines?.[2]?.result };
}

test.each([
  ["a charge that names its payout", "T2,Charge for B2C payment SAL-1,5,"],
  ["VAT that names its payout", "T2,SAL-1 Rahima VAT,0.75,"],
  ["a charge in Bangla", "T2,সার্ভিস চার্জ SAL-1,5,"],
  ["a charge without a reference", "T2,Charge,5,"],
  ["a charge with an ID of the wallet", "T2,Fee for transaction CKN8X1,5,"],
  ["excise duty", "T2,Excise Duty,150,"],
])("%s is a fee, which is open until it is recorded", async (_, line) => {
  expect(await resultOf(line)).toEqual({ code: 6, result: "fee" });
});

test.each([
  ["the amount of the payout again", "T2,Fee of SAL-1,1250.50,", "twice"],
  ["more than the amount of the payout", "T2,School fee SAL-1,1300,", "twice"],
  ["money that arrives", "T2,Fee of SAL-1,,5", "twice"],
  ["a fee that another person is paid", "T2,School fee of Rahim,5,", "only-in-statement"],
  ["a chargeback", "T2,Charge back,5,", "only-in-statement"],
])("%s is no fee", async (_, line, result) => {
  expect((await resultOf(line)).result).toBe(result);
});

test("a column of texts is read if some of them name only a fee", async () => {
  const lines = ["SAL-1,Salary,1250.50", "SAL-1,Charge,5", "SAL-2,Salary,500", ",Charge,7"];
  const { found } = await reconciledBy(merchant, ["Reference,Remarks,Debit", ...lines]);
  const results = found.lines?.map(({ result }) => result);
  expect(results).toEqual(["matched", "fee", "matched", "fee"]);
});
