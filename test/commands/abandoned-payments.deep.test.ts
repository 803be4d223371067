import { afterAll, expect, test } from "vitest";
import { openSandboxApi, openShop } from "../support/either-api.ts";
import { paymentOf } from "../support/merchant.ts";

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

test("rejects what the same payer has paid, however many were started since and abandoned", async () => {
  const api = await openSandboxApi((close) => closers.push(close));
  const shop = await openShop(api);
  const line = paymentOf("Order 1", "--payer", "01712345678");
  await api.set("payment", await shop.id(...line), "Completed");
  expect(await shop.lenden("pay", "get", "@last")).toMatchObject({ code: 0 });
  for (let count = 0; count < 51; count += 1) await shop.id(...line, "--again");
  shop.pass(1);
  const error = expect.objectContaining({ kind: "refused" });
  expect(await shop.lenden(...line)).toMatchObject({ code: 3, json: undefined, error });
  expect(await shop.created("payment")).toHaveLength(52);
});
