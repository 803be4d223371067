import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openSecondApi, openShop } from "../support/either-api.ts";
import { openMerchant } from "../support/merchant.ts";
import { fileOf } from "./files.ts";

/** As a spreadsheet of a personnel office saves it: a byte order mark, CRLF, semicolons, a column more. */
const rows = [
  "amount;to;name;Department",
  "18500.00;01712345678;রহিমা বেগম;হিসাব",
  '21250.50;01812345678;"করিম; উদ্দিন";Sales',
];

test("a file with semicolons, Bangla names and a column more is sent as it is", async () => {
  const merchant = await openMerchant();
  const file = fileOf(`\ufeff${rows.join("\r\n")}\r\n`, "বেতন.csv");
  const send = ["payout", "batch", "send", file, "--method", "bkash"];

  const rejected = await merchant.lenden(send);
  const flags = /If it is the description, add (--map \S+)\. To ignore it, add (--ignore-columns \S+)\./.exec(
    rejected.stderr.replaceAll(/\s+/g, " "),
  );
  const sent = await merchant.lenden([...send, ...(flags?.[1] ?? "").split(" ")]);

  expect(rejected).toMatchObject({ code: 2, stdout: "" });
  expect(flags?.slice(1)).toEqual(["--map Department=description", "--ignore-columns Department"]);
  expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining("Delimiter: semicolon") });
  const books = await merchant.books("payouts");
  expect(books).toMatchObject([
    { recipientName: "রহিমা বেগম", description: "হিসাব", amountPaisa: 1_850_000n },
    { recipientName: "করিম; উদ্দিন", description: "Sales", amountPaisa: 2_125_050n },
  ]);
});

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
