import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openSecondApi, openShop } from "../support/either-api.ts";
import { openMerchant } from "../support/merchant.ts";
import { fileOf } from "./files.ts";

test("a file without references that is read by other flags is rejected, not paid again", async () => {
  const merchant = await openMerchant();
  const table = [
    ["amount", "to", "method", "grade"],
    ["500", "01712345678", "bkash", "7"],
  ];
  const file = fileOf(table.map((cells) => cells.join(",")).join("\n"), "pay.csv");
  const send = ["payout", "batch", "send", file, "--allow-duplicates"];
  expect(await merchant.lenden([...send, "--ignore-columns", "grade"])).toMatchObject({ code: 0 });
  writeFileSync(file, table.map((cells) => cells.join(";")).join("\n"));

  const other = await merchant.lenden([...send, "--map", "grade=description"]);

  expect(other).toMatchObject({ code: 5, stderr: expect.stringContaining("add --name") });
  expect(await merchant.lenden([...send, "--ignore-columns", "grade"])).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(1);
});

test("a row that 'ledger resolve' sent again did not exist before its batch", async () => {
  const api = await openSecondApi(onTestFinished, ["number-as-sent"]);
  const shop = await openShop(api);
  const file = fileOf("ref,amount,to\nA-1,5,01712345678\n", "pay.csv");
  api.trouble("payout", "lost");
  const send = ["payout", "batch", "send", file, "--method-id", api.methodId, "--yes"];
  expect(await shop.lenden(...send)).toMatchObject({ code: 75 });
  api.heal();
  shop.pass(1);
  expect(await shop.lenden("ledger", "resolve", "A-1")).toMatchObject({ code: 0 });
  const { json = {} } = await shop.lenden("payout", "batch", "export", file);
  expect(Object.values(json)).toMatchObject([{ state: "CONFIRMED", existing: "no" }]);
});
