import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { headPath } from "../../src/ledger/head.ts";
import { lenden } from "../support/lenden.ts";
import { openMerchant, paidPayment, refundOf } from "../support/merchant.ts";

test.each([
  ["missing", () => {}],
  ["missing with its head", (_: string, head: string) => rmSync(head)],
  ["empty", (path: string) => writeFileSync(path, "", { mode: 0o600 })],
])("a refund is not sent again while the ledger that knows it is %s", async (_, leave) => {
  const merchant = await openMerchant();
  const paid = await paidPayment(merchant);
  expect(await merchant.lenden(refundOf(paid, "60"))).toMatchObject({ code: 0 });
  for (const name of readdirSync(merchant.dataFolder))
    if (name.startsWith(basename(merchant.ledgerFile))) rmSync(join(merchant.dataFolder, name));
  leave(
    merchant.ledgerFile,
    headPath(
      { config: merchant.env.LENDEN_CONFIG_DIR ?? "", state: undefined },
      merchant.ledgerFile,
    ),
  );

  const second = await merchant.lenden(refundOf(paid, "60"));

  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(await merchant.books("refunds")).toHaveLength(1);
});

test("a refund is not sent with a relative data directory", async () => {
  const merchant = await openMerchant();
  const paid = await paidPayment(merchant);
  const env = { ...merchant.env, LENDEN_DATA_DIR: "./data" };
  expect(await lenden(refundOf(paid, "60"), { env })).toMatchObject({ code: 2, stdout: "" });
  expect(await merchant.books("refunds")).toEqual([]);
});
