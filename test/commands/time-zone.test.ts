import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatTime } from "../../src/domain/local-time.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built } from "../support/lenden.ts";
import { openMerchant, payoutOf } from "../support/merchant.ts";

test("cards, lists and errors show times in the zone of the profile", async () => {
  const { apiKey, baseUrl, env } = await openMerchant();
  const folder = scratchFolder();
  const key = join(folder, "key");
  writeFileSync(key, apiKey);
  const own = { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
  const run = (...args: string[]) =>
    built(args, { env: { ...own, LENDEN_PAYOUT_SECRET: env.LENDEN_PAYOUT_SECRET ?? "" } });
  const zone = "Pacific/Kiritimati";
  await run("profile", "add", "shop", "--base-url", baseUrl, "--key-file", key);
  expect(await run("profile", "set", "time-zone", zone)).toMatchObject({ code: 0 });
  expect(await run(...payoutOf("A"))).toMatchObject({ code: 0 });
  const { stdout } = await run("ledger", "export", "-o", "ndjson");
  const shown = formatTime(JSON.parse(stdout).createdAt, zone);
  const duplicate = await run(...payoutOf("B").filter((word) => !["--ref", "B"].includes(word)));
  expect(duplicate.stderr).toContain(shown);
  expect((await run("payout", "list")).stdout).toContain(shown);
  const card = await run("ledger", "show", "A");
  expect(card.stdout).toMatch(new RegExp(`Started +${shown}`));
});
