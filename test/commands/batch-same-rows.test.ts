import { expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { openMerchant } from "../merchant.ts";
import { lenden } from "../run.ts";

test.each([
  ["with references", "ref,amount,to,method", ["A,5,01712345678,bkash", "B,6,01812345678,nagad"]],
  ["without references", "amount,to", ["5,01712345678", "6,01812345678"]],
])(
  "status and export find the batch of a file %s by its rows, without a key",
  async (_, header, rows) => {
    const merchant = await openMerchant();
    const file = fileOf([header, ...rows, ""].join("\n"));
    const method = header.includes("method") ? [] : ["--method", "bkash"];
    const batch = await merchant.id(["payout", "batch", "send", file, ...method]);
    const reordered = fileOf([header, ...rows.toReversed()].join("\r\n").replace(",5,", ",5.00,"));
    const env = { ...merchant.env, LENDEN_API_KEY: "", LENDEN_PAYOUT_SECRET: "" };

    const status = await lenden(["payout", "batch", "status", reordered, "--json"], { env });
    const exported = await merchant.lenden(["payout", "batch", "export", reordered]);

    const resumed = await merchant.lenden(["payout", "batch", "send", reordered, ...method]);

    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining(batch) });
    expect(await merchant.books("payouts")).toHaveLength(2);
    expect(JSON.parse(status.stdout)).toMatchObject({ batch, rows: 2 });
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining("01812345678") });
  },
);
