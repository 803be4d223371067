import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";
import { nodeWithOtherEngine } from "../support/lenden.ts";
import { openMerchant, payoutOf } from "../support/merchant.ts";
import { launcher, tool } from "../tool.js";

describe("the file", () => {
  test.each(["000", "022", "077"])(
    "has mode 0600 and its folder 0700 with the umask %s, SQLite's own files too",
    async (umask) => {
      const merchant = await openMerchant();
      const script = `umask ${umask}; exec "$0" "$@"`;
      const { stdout } = await promisify(execFile)(
        "sh",
        ["-c", script, ...tool, ...payoutOf("MODE", "-q")],
        { env: { PATH: process.env.PATH, ...merchant.env } },
      );
      expect(stdout).toMatch(/^PO/);
      const mode = (path: string) => statSync(path).mode & 0o777;
      expect(mode(merchant.ledgerFile)).toBe(0o600);
      expect(mode(merchant.dataFolder)).toBe(0o700);
      const files = execFileSync("ls", [merchant.dataFolder], { encoding: "utf8" })
        .trim()
        .split("\n");
      for (const file of files)
        expect([file, mode(join(merchant.dataFolder, file))]).toEqual([
          file,
          ["processes", "methods"].includes(file) ? 0o700 : 0o600,
        ]);
    },
  );

  test("is made private, and a symbolic link is rejected", async () => {
    const folder = scratchFolder();
    const path = join(folder, "open.db");
    writeFileSync(path, "", { mode: 0o666 });
    (await openDatabase(path)).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    symlinkSync(path, join(folder, "link.db"));
    await expect(openDatabase(join(folder, "link.db"))).rejects.toThrow(/to store data/);
    mkdirSync(join(folder, "folder.db"));
    await expect(openDatabase(join(folder, "folder.db"))).rejects.toThrow(/to store data/);
  });

  test("of another program keeps its mode, and a shared database is made private", async () => {
    const [other, database] = [join(scratchFolder(), "hosts"), join(scratchFolder(), "copy.db")];
    writeFileSync(other, "127.0.0.1 localhost\n", { mode: 0o644 });
    await expect(openDatabase(other)).rejects.toThrow("as a database");
    expect(statSync(other).mode & 0o777).toBe(0o644);
    const made = await openDatabase(database);
    made.exec("CREATE TABLE kept (x); INSERT INTO kept VALUES (1)");
    made.close();
    chmodSync(database, 0o644);
    const shared = await openDatabase(database);
    expect(shared.prepare("SELECT x FROM kept").get()).toEqual({ x: 1n });
    shared.close();
    expect(statSync(database).mode & 0o777).toBe(0o600);
  });

  test("keeps its locks when the same process opens it a second time", async () => {
    const path = join(scratchFolder(), "ledger.db");
    const first = await openDatabase(path);
    first.exec("CREATE TABLE kept (x)");
    first.prepare("SELECT * FROM kept").all();
    // Whoever closes last puts the log away: another process must see that it is not the last.
    const script = `
      const leave = (database) => { database.exec("INSERT INTO kept VALUES (1)"); database.close(); };
      import("node:sqlite").then(
        ({ DatabaseSync }) => leave(new DatabaseSync(process.argv[1])),
        () => leave(new (require("libsql"))(process.argv[1])),
      );`;
    const logIsLeft = () => {
      execFileSync(process.execPath, ["-e", script, path]);
      return existsSync(`${path}-wal`);
    };
    expect(logIsLeft()).toBe(true);
    (await openDatabase(path)).close();
    expect(logIsLeft()).toBe(true);
  });

  test("is in a directory that is made private", async () => {
    const merchant = await openMerchant();
    mkdirSync(merchant.dataFolder, { mode: 0o755 });
    await merchant.lenden(["ledger", "check"]);
    expect(statSync(merchant.dataFolder).mode & 0o777).toBe(0o700);
  });
});

describe("one file, two engines", async () => {
  const other = await nodeWithOtherEngine();

  test.skipIf(!other)(
    "what libsql wrote, Node's own SQLite reads and continues, and the reverse",
    async () => {
      const merchant = await openMerchant();
      const env = { PATH: process.env.PATH, ...merchant.env };
      const onNode = async (node: string, line: string[]) =>
        (await promisify(execFile)(node, [launcher, ...line], { env })).stdout.trim();
      const here = (line: string[]) => onNode(process.execPath, line);
      const there = (line: string[]) => onNode(other ?? "", line);
      const first = await here(payoutOf("HERE", "-q"));
      expect(await there(["payout", "list", "-q"])).toBe(first);
      const second = await there(payoutOf("THERE", "-q"));
      expect(await here(["payout", "list", "-q"])).toBe(`${second}\n${first}`);
      expect(JSON.parse(await there(payoutOf("HERE", "--json")))).toMatchObject({
        payoutId: first,
        existing: true,
      });
      expect(JSON.parse(await here(payoutOf("THERE", "--json")))).toMatchObject({
        payoutId: second,
        existing: true,
      });
      await Promise.all(
        [0, 1, 2].flatMap((index) => [
          here(payoutOf(`H${index}`, "-q", "--again")),
          there(payoutOf(`T${index}`, "-q", "--again")),
        ]),
      );
      for (const check of [here, there])
        expect(JSON.parse(await check(["ledger", "check", "--json"]))).toMatchObject({
          holds: true,
        });
      expect(await merchant.books("payouts")).toHaveLength(8);
    },
  );
});
