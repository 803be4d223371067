import { expect, test } from "vitest";
import { built, errorOf } from "../support/lenden.ts";
import { openMerchantApart, payoutOf } from "../support/merchant.ts";
import { machineOf } from "./calls.ts";

test("I13: limits that are set before anything is sent hold for every profile of the key", async () => {
  const merchant = await openMerchantApart();
  const env = await machineOf(merchant);
  const set = ["limits", "set", "--payout", "4", "--profile", "shop", "--yes"];
  expect(await built(set, { env })).toMatchObject({ code: 0 });
  for (const profile of ["twin", "shop"]) {
    const sent = await built([...payoutOf("A"), "--profile", profile, "--json"], { env });
    expect(sent.code).toBe(4);
    expect(errorOf(sent)).toMatchObject({ reason: "limits.payout" });
  }
  expect(await merchant.count("payouts")).toBe(0);
  expect(await built(["ledger", "check"], { env })).toMatchObject({ code: 0 });
});
