import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testAccount } from "../commands/account.ts";
import { scratchFolder } from "../run.ts";

const account = testAccount();
const pay = ["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"];

/** A data folder of its own, and a payment made with it; the same one again needs --again. */
async function paid(data: string, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await account.run([...pay, ...more, "-q"], {
    env: { LENDEN_DATA_DIR: data },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim();
}

test("what is kept for a Tab is for this person alone, and holds the newest first", async () => {
  const data = scratchFolder();
  const older = await paid(data);
  const newer = await paid(data, "--again");
  const file = join(data, "recent.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { accounts } = JSON.parse(readFileSync(file, "utf8"));
  const [{ lists }] = accounts;
  expect(lists.payment.map(({ value }: { value: string }) => value)).toEqual([newer, older]);
});

test("that it cannot be kept hinders nobody", async () => {
  const data = scratchFolder();
  mkdirSync(join(data, "recent.json.new"));
  expect(await paid(data)).not.toBe("");
});

test("accounts that nobody used for long are forgotten, damaged ones too", async () => {
  const data = scratchFolder();
  const old = Array.from({ length: 12 }, (_, index) => ({ profile: `p${index}`, baseUrl: "x" }));
  const file = join(data, "recent.json");
  writeFileSync(file, JSON.stringify({ accounts: [...old, 7, null] }));
  await paid(data);
  const { accounts } = JSON.parse(readFileSync(file, "utf8"));
  const names = accounts.map(({ profile }: { profile: string }) => profile);
  expect(names).toEqual(["environment variables", "p0", "p1", "p2", "p3", "p4", "p5", "p6"]);
});
