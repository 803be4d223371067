import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatTime } from "../../src/domain/local-time.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { inDatabase, openMerchant, payoutOf } from "../support/merchant.ts";

test("cards, lists and errors show times in the zone of the profile", async () => {
  const { apiKey, baseUrl, env } = await openMerchant();
  const folder = scratchFolder();
  const key = join(folder, "key");
  writeFileSync(key, apiKey);
  const own = { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
  const run = (...args: string[]) =>
    built(args, { env: { ...own, LENDEN_PAYOUT_SECRET: env.LENDEN_PAYOUT_SECRET ?? "" } });
  const zone = "Pacific/Kiritimati";
  await lenden(["profile", "add", "shop", "--base-url", baseUrl, "--key-file", key], { env: own });
  expect(await run("profile", "set", "time-zone", zone)).toMatchObject({ code: 0 });
  expect(await run(...payoutOf("A"))).toMatchObject({ code: 0 });
  const [operation] = await inDatabase(join(own.LENDEN_DATA_DIR, "ledger.db"), (ledger) =>
    ledger.prepare("SELECT created_at FROM operations").all(),
  );
  const shown = formatTime(String(operation?.created_at), zone);
  const duplicate = await run(...payoutOf("B").filter((word) => !["--ref", "B"].includes(word)));
  expect(duplicate.stderr).toContain(shown);
  expect((await run("payout", "list")).stdout).toContain(shown);
  const card = await run("ledger", "show", "A");
  expect(card.stdout).toMatch(new RegExp(`Started +${shown}`));
});
