import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { openProductionMerchant } from "../support/merchant.ts";
import { connect } from "./client.ts";

/** Directories that an agent may use: the usual ones. */
function usualDirectories() {
  const home = scratchFolder();
  return {
    HOME: home,
    LENDEN_CONFIG_DIR: join(home, ".config/lenden"),
    LENDEN_DATA_DIR: join(home, ".local/share/lenden"),
  };
}

test("in production without agent limits it says why it starts without send_plan", async () => {
  const merchant = await openProductionMerchant();
  const client = await connect({ env: { ...merchant.env, ...usualDirectories() } });

  const { tools } = await client.client.listTools();

  expect(tools.map(({ name }) => name)).not.toContain("send_plan");
  expect(client.stderr()).toContain("--allow-send has no effect");
  expect(client.stderr()).toContain("limits for agents");
  await expect(client.call("send_plan", { plan: "B000000" })).rejects.toThrow(/send_plan/);
});

test("does not start with another directory than the usual one in production", async () => {
  const merchant = await openProductionMerchant();
  await expect(connect(merchant)).rejects.toThrow();
});
