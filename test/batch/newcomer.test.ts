import { expect, test } from "vitest";
import { openMerchantApart } from "../support/merchant.ts";
import { fileOf } from "./files.ts";

/** As a spreadsheet of a personnel office saves it: a byte order mark, CRLF, semicolons, a column more. */
const rows = [
  "amount;to;name;Department",
  "18500.00;01712345678;রহিমা বেগম;হিসাব",
  '21250.50;01812345678;"করিম; উদ্দিন";Sales',
];

test("a file with semicolons, Bangla names and a column more is sent as it is", async () => {
  const merchant = await openMerchantApart();
  const file = fileOf(`\ufeff${rows.join("\r\n")}\r\n`, "বেতন.csv");
  const send = ["payout", "batch", "send", file, "--method", "bkash"];

  const rejected = await merchant.built(send);
  const flags = /add (--ignore-columns \S+)\. If it is the description, add (--map \S+)\./.exec(
    rejected.stderr.replaceAll(/\s+/g, " "),
  );
  const sent = await merchant.built([...send, ...(flags?.[2] ?? "").split(" ")]);

  expect(rejected).toMatchObject({ code: 2, stdout: "" });
  expect(flags?.slice(1)).toEqual(["--ignore-columns Department", "--map Department=description"]);
  expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining("Delimiter: semicolon") });
  const books = await merchant.books("payouts");
  expect(books).toMatchObject([
    { recipientName: "রহিমা বেগম", description: "হিসাব", amountPaisa: 1_850_000n },
    { recipientName: "করিম; উদ্দিন", description: "Sales", amountPaisa: 2_125_050n },
  ]);
});
