import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type AtEnd, collectGarbage, scratchFolder, until } from "../support/helpers.ts";
import { built, ended } from "../support/lenden.ts";
import {
  alter,
  inDatabase,
  type Merchant,
  openMerchantApart,
  payoutNumber,
} from "../support/merchant.ts";
import { openTerminal, terminalTest } from "../terminal/terminal.ts";

function countIn(path: string, table = "operations"): Promise<number> {
  return inDatabase(path, (ledger) =>
    Number(ledger.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count),
  );
}

/** For tests of what is rejected: nothing of it changes. */
let unchanged: Awaited<ReturnType<typeof backedUp>>;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  unchanged = await backedUp((close) => void closing.push(close));
});
afterAll(async () => {
  for (const close of closing) await close();
});

describe("ledger backup", () => {
  test("writes a private copy that check accepts as a ledger", async () => {
    const merchant = await openMerchantApart();
    await merchant.id(payoutNumber(1, "ONE"));
    const file = join(scratchFolder(), "backup.db");
    expect(await merchant.json(["ledger", "backup", file])).toMatchObject({
      operations: 1,
      events: 4,
      newestAt: expect.stringMatching(/^20/),
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file))).toEqual(["backup.db"]);
    expect(await countIn(file)).toBe(1);
  });

  test("is consistent while a batch writes the ledger", async () => {
    const merchant = await openMerchantApart();
    const folder = scratchFolder();
    const rows = Array.from(
      { length: 1_000 },
      (_, row) => `R-${row},5,017${10_000_000 + row},bkash`,
    );
    writeFileSync(join(folder, "payees.csv"), ["ref,amount,to,method", ...rows, ""].join("\n"));
    const sending = ended(merchant.start(["payout", "batch", "send", join(folder, "payees.csv")]));
    let isOver = false;
    void sending.then(() => {
      isOver = true;
    });
    await until(() => existsSync(merchant.ledgerFile));
    const counts: number[] = [];
    for (let index = 0; !isOver; index += 1) {
      const file = join(folder, `backup-${index}.db`);
      const { code, stdout } = await merchant.built(["ledger", "backup", file, "--json"]);
      expect(code).toBe(0);
      counts.push(Number(JSON.parse(stdout).operations));
      const place = { ...merchant.env, LENDEN_DATA_DIR: join(folder, `data-${index}`) };
      mkdirSync(place.LENDEN_DATA_DIR, { mode: 0o700 });
      writeFileSync(join(place.LENDEN_DATA_DIR, "ledger.db"), readFileSync(file), { mode: 0o600 });
      const checked = await built(["ledger", "check", "--json"], { env: place });
      expect(JSON.parse(checked.stdout)).toMatchObject({ holds: true });
    }
    expect((await sending).code).toBe(0);
    expect(counts.some((count) => count > 0 && count < 1_000)).toBe(true);
  });

  test.each<[string, (folder: string) => string, RegExp]>([
    ["an existing file", existingFile, /backup\.db: the file already exists/],
    ["a symbolic link", linkToNothing, /link\.db: the file already exists/],
    ["a directory", (folder) => folder, /the file already exists/],
    ["a missing directory", (folder) => join(folder, "a", "b.db"), /directory does not exist/],
    ["a file below a file", (folder) => join(existingFile(folder), "b.db"), /directory is a file/],
  ])("rejects %s", async (_, place, says) => {
    const { merchant } = unchanged;
    const folder = scratchFolder();
    const { code, stderr } = await merchant.built(["ledger", "backup", place(folder)]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
    if (existsSync(join(folder, "backup.db")))
      expect(readFileSync(join(folder, "backup.db"), "utf8")).toBe("kept");
    expect(existsSync(join(folder, "nothing"))).toBe(false);
  });

  test("of no ledger writes nothing", async () => {
    const merchant = await openMerchantApart();
    const file = join(scratchFolder(), "backup.db");
    expect(await merchant.built(["ledger", "backup", file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no ledger yet"),
    });
    expect([existsSync(file), existsSync(merchant.ledgerFile)]).toEqual([false, false]);
  });
});

function existingFile(folder: string): string {
  const path = join(folder, "backup.db");
  writeFileSync(path, "kept");
  return path;
}

function linkToNothing(folder: string): string {
  const path = join(folder, "link.db");
  symlinkSync(join(folder, "nothing"), path);
  return path;
}

/** A backup with one payout, and a ledger with two. */
async function backedUp(atEnd: AtEnd = onTestFinished) {
  const merchant = await openMerchantApart({}, atEnd);
  await merchant.id(payoutNumber(1, "ONE"));
  const file = join(scratchFolder(), "backup.db");
  expect(await merchant.built(["ledger", "backup", file])).toMatchObject({ code: 0 });
  await merchant.id(payoutNumber(2, "TWO"));
  return { merchant, file };
}

function asideOf({ dataFolder }: Merchant): string[] {
  return readdirSync(dataFolder).filter((name) => name.endsWith(".before-restore"));
}

describe("ledger restore", () => {
  test("keeps the earlier ledger, and nothing is sent until the new one is accepted", async () => {
    const { merchant, file } = await backedUp();
    const before = readFileSync(file);

    const restored = await merchant.built(["ledger", "restore", file, "--yes"]);

    expect(restored).toMatchObject({ code: 0 });
    expect(restored.stderr).toMatch(
      /Current ledger: 2 operations, 6 events, newest \d+ \w+ \d{4}, [\d:]{8}\n/,
    );
    expect(restored.stderr).toMatch(/Lost: 1 operation and 2 events/);
    const [aside = ""] = asideOf(merchant);
    expect(await countIn(join(merchant.dataFolder, aside))).toBe(2);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(dirname(file))).toEqual(["backup.db"]);
    expect(statSync(merchant.ledgerFile).mode & 0o777).toBe(0o600);
    const again = payoutNumber(3, "THREE");
    expect(await merchant.built(again)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Nothing was sent."),
    });
    const { stdout } = await merchant.built(["ledger", "check", "--json"]);
    const { hash } = JSON.parse(stdout).newest;
    const accept = ["ledger", "check", "--accept-hash", hash, "--yes"];
    expect(await merchant.built(accept)).toMatchObject({ code: 0 });
    expect(await merchant.built(again)).toMatchObject({ code: 0 });
  });

  test("of the backup of another ledger says that everything is lost", async () => {
    const { file } = unchanged;
    const merchant = await openMerchantApart();
    await merchant.id(payoutNumber(1, "ONE"));
    const { stderr } = await merchant.built(["ledger", "restore", file, "--yes"]);
    expect(stderr).toMatch(/Lost: everything .* a different one/);
  });

  test.each([
    ["equal to the ledger", async () => {}],
    ["without a stored head", removeHead],
    ["in place of a missing ledger", removeLedger],
  ])("of a backup %s needs acceptance too", async (_, change) => {
    const merchant = await openMerchantApart();
    await merchant.id(payoutNumber(1, "ONE"));
    const file = join(scratchFolder(), "backup.db");
    await merchant.built(["ledger", "backup", file]);
    await change(merchant);
    expect(await merchant.built(["ledger", "restore", file, "--yes"])).toMatchObject({ code: 0 });
    const other = { ...merchant.env, LENDEN_CONFIG_DIR: join(scratchFolder(), "config") };
    for (const env of [merchant.env, other])
      expect(await built(payoutNumber(2, "TWO"), { env })).toMatchObject({ code: 1 });
    expect(await countIn(merchant.ledgerFile)).toBe(1);
  });

  test("replaces a ledger that is no database", async () => {
    const { merchant, file } = await backedUp();
    await removeLedger(merchant);
    writeFileSync(merchant.ledgerFile, "no database at all, although it is long enough for one");
    expect(await merchant.built(["ledger", "restore", file, "--yes"])).toMatchObject({ code: 0 });
    expect(await countIn(merchant.ledgerFile)).toBe(1);
    expect(asideOf(merchant)).toHaveLength(1);
  });

  test("asks first, and changes nothing without a yes", async () => {
    const { merchant, file } = unchanged;
    const { code, stderr } = await merchant.built(["ledger", "restore", file]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("add --yes")]);
    await expectUnchanged(merchant);
  });

  test.each<[string, string, number, RegExp]>([
    ["an event that was modified", "UPDATE events SET at = '' WHERE number = 2", 1, /event 2/],
    ["a row that was modified", "UPDATE operations SET amount_paisa = 1", 1, /operation OP\w+ was/],
    [
      "an added trigger",
      "CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END",
      1,
      /trigger t/,
    ],
    ["other tables", "DROP TABLE events", 2, /Cannot restore/],
  ])("rejects a backup with %s", async (_, sql, code, says) => {
    const { merchant } = unchanged;
    const file = join(scratchFolder(), "backup.db");
    copyFileSync(unchanged.file, file);
    await inDatabase(file, (backup) => {
      alter(backup, () => backup.exec(sql));
      backup.exec("PRAGMA journal_mode = DELETE");
    });
    const restored = await merchant.built(["ledger", "restore", file, "--yes"]);
    expect([restored.code, restored.stderr]).toEqual([code, expect.stringMatching(says)]);
    await expectUnchanged(merchant);
  });

  test("of a backup of an accepted ledger is not rejected", async () => {
    const merchant = await openMerchantApart();
    await merchant.id(payoutNumber(1, "ONE"));
    await merchant.inLedger((ledger) =>
      alter(ledger, () => ledger.exec("UPDATE operations SET amount_paisa = 1")),
    );
    const { stdout } = await merchant.built(["ledger", "check", "--json"]);
    const accept = ["ledger", "check", "--accept-hash", JSON.parse(stdout).newest.hash, "--yes"];
    expect(await merchant.built(accept)).toMatchObject({ code: 0 });
    const file = join(scratchFolder(), "backup.db");
    expect(await merchant.built(["ledger", "backup", file])).toMatchObject({ code: 0 });
    // libsql keeps a file open whose statements were not collected.
    collectGarbage();
    expect(await merchant.built(["ledger", "restore", file, "--yes"])).toMatchObject({ code: 0 });
  });

  test.each<[string, (folder: string) => string]>([
    ["a file that is missing", (folder) => join(folder, "none.db")],
    ["a directory", (folder) => folder],
    ["a symbolic link", linkToNothing],
    ["a file that is no database", existingFile],
  ])("rejects %s", async (_, place) => {
    const { merchant } = unchanged;
    const line = ["ledger", "restore", place(scratchFolder()), "--yes"];
    const { code, stderr } = await merchant.built(line);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/Cannot restore .*\n.*ledger backup/),
    ]);
    await expectUnchanged(merchant);
  });

  test("is rejected while another lenden process uses the ledger", async () => {
    const { merchant, file } = await backedUp();
    const child = merchant.start(["callback", "listen", "--port", "0", "--print-json"]);
    const end = ended(child);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await until(() => existsSync(`${merchant.ledgerFile}-wal`));
    const { code, stderr } = await merchant.built(["ledger", "restore", file, "--yes"]);
    child.kill("SIGKILL");
    await end;
    expect([code, stderr]).toEqual([7, expect.stringContaining("Another lenden process uses")]);
    // This process must not open the ledger here: libsql would keep it open.
    expect(asideOf(merchant)).toEqual([]);
    expect(await merchant.built(["ledger", "restore", file, "--yes"])).toMatchObject({ code: 0 });
  });
});

terminalTest("ledger restore in a terminal takes anything but yes as a no", async () => {
  const { merchant, file } = unchanged;
  const terminal = await openTerminal(["ledger", "restore", file], { env: merchant.env });
  await terminal.answer("Replace the ledger?", "");
  expect(await terminal.ended()).toMatchObject({ code: 4 });
  await expectUnchanged(merchant);
});

async function expectUnchanged(merchant: Merchant): Promise<void> {
  expect(await countIn(merchant.ledgerFile)).toBe(2);
  expect(asideOf(merchant)).toEqual([]);
  expect(readdirSync(merchant.dataFolder).filter((name) => name.includes(".new"))).toEqual([]);
  expect(await merchant.built(["ledger", "check"])).toMatchObject({ code: 0 });
}

async function removeHead({ env }: Merchant): Promise<void> {
  const folder = env.LENDEN_CONFIG_DIR ?? "";
  for (const name of readdirSync(folder))
    if (name.startsWith("ledger-head-")) rmSync(join(folder, name));
}

async function removeLedger({ dataFolder }: Merchant): Promise<void> {
  for (const name of readdirSync(dataFolder))
    if (name.startsWith("ledger.db")) rmSync(join(dataFolder, name));
}
