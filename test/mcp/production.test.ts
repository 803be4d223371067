import { expect, test } from "vitest";
import { openMerchantApart, openProductionMerchant } from "../support/merchant.ts";
import { connect, usualDirectories } from "./client.ts";

test.each([
  ["in production", openProductionMerchant],
  ["in a sandbox", openMerchantApart],
])("%s, without agent limits, it says why it starts without send_plan", async (_, open) => {
  const merchant = await open();
  const env = { ...merchant.env, ...usualDirectories() };
  const client = await connect({ env }, { isBounded: false });

  const { tools } = await client.client.listTools();

  expect(tools.map(({ name }) => name)).not.toContain("send_plan");
  expect(client.stderr()).toContain("--allow-send has no effect");
  expect(client.stderr()).toContain("limits for agents");
  await expect(client.call("send_plan", { plan: "B000000" })).rejects.toThrow(/send_plan/);
});

test("does not start with another directory than the usual one in production", async () => {
  const merchant = await openProductionMerchant();
  await expect(connect(merchant, { isBounded: false })).rejects.toThrow();
});
