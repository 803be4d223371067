import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runs, scratchFolder, until } from "../support/helpers.ts";
import { built, ended } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchant,
  openMerchantApart,
  paidPayment,
  payoutNumber,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { openTerminal, terminalTest } from "../terminal/terminal.ts";

const traces: [string, (folder: string) => void][] = [
  [
    "the method cache",
    (folder) => writeFileSync(join(folder, `methods-${"a".repeat(24)}.json`), "{}"),
  ],
  ["process locks", (folder) => mkdirSync(join(folder, "processes"))],
  ["a -wal file", (folder) => writeFileSync(join(folder, "ledger.db-wal"), "")],
  ["a backup", (folder) => writeFileSync(join(folder, "ledger.db.backup"), "")],
];

const readers = [
  ["pay", "list"],
  ["payout", "list"],
  ["ledger", "check"],
  ["ledger", "show", "@last"],
];

/** A merchant that refunded 60 of 100 and then lost its ledger. */
async function afterLoss(lose: (merchant: Merchant) => void, open = openMerchant) {
  const merchant = await open();
  const paid = await paidPayment(merchant);
  expect(await merchant.lenden(refundOf(paid, "60"))).toMatchObject({ code: 0 });
  lose(merchant);
  return { merchant, paid };
}

function removeLedger({ dataFolder }: Merchant): void {
  for (const name of readdirSync(dataFolder))
    if (name.startsWith("ledger.db")) rmSync(join(dataFolder, name));
}

function emptyLedger(merchant: Merchant): void {
  removeLedger(merchant);
  writeFileSync(merchant.ledgerFile, "", { mode: 0o600 });
}

describe.each([
  [
    "missing beside traces of earlier use",
    removeLedger,
    /is missing, but lenden was used here before/,
  ],
  ["of zero bytes", emptyLedger, /ledger\.db is empty/],
])("a ledger %s", (_, lose, says) => {
  test("rejects the refund that it no longer knows, and every payment, payout and list", async () => {
    const { merchant, paid } = await afterLoss(lose);
    const before = await merchant.moneyRequests();
    const payment = ["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"];
    for (const line of [refundOf(paid, "60"), payment, payoutOf("LOST"), ...readers]) {
      const { code, stdout, stderr } = await merchant.lenden(line);
      expect([line, code, stdout]).toEqual([line, 1, ""]);
      expect(stderr).toMatch(says);
      expect(stderr).toMatch(/\nhint: .*'lenden ledger check --accept'/);
    }
    expect(await merchant.moneyRequests()).toEqual(before);
    expect(await merchant.books("refunds")).toHaveLength(1);
  });

  test("is accepted with ledger check --accept --yes, and that is recorded", async () => {
    const { merchant, paid } = await afterLoss(lose);
    const accept = ["ledger", "check", "--accept"];
    const rejected = await merchant.lenden(accept);
    expect(rejected).toMatchObject({ code: 4, stdout: "" });
    expect(rejected.stderr).toContain("add --yes");
    expect(await merchant.lenden(refundOf(paid, "60"))).toMatchObject({ code: 1 });

    const accepted = await merchant.lenden([...accept, "--yes", "--json"]);

    expect(accepted.code).toBe(0);
    const recorded = { at: expect.stringMatching(/^20/), user: expect.any(String) };
    expect(JSON.parse(accepted.stdout)).toMatchObject({ holds: true, accepted: recorded });
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ accepted: recorded });
    const { stdout } = await merchant.lenden(["ledger", "check"]);
    expect(stdout).toMatch(/Accepted +\d+ \w+ \d{4}, [\d:]{8} by /);
    expect(statSync(merchant.ledgerFile).mode & 0o777).toBe(0o600);
    expect(await merchant.lenden(payoutOf("AFTER"))).toMatchObject({ code: 0 });
  });
});

test("the log of a lost ledger is set aside, and not written into the new one", async () => {
  const { merchant } = await afterLoss(() => {}, openMerchantApart);
  const log = `${merchant.ledgerFile}-wal`;
  let left = Buffer.alloc(0);
  await merchant.inLedger((ledger) => {
    ledger.exec("CREATE TABLE foreign_to_it (x); INSERT INTO foreign_to_it VALUES (1)");
    left = readFileSync(log);
  });
  removeLedger(merchant);
  writeFileSync(log, left);

  expect(await merchant.built(["ledger", "check", "--accept", "--yes"])).toMatchObject({ code: 0 });

  const tables = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT name FROM sqlite_schema WHERE name = 'foreign_to_it'").all(),
  );
  expect(tables).toEqual([]);
  const [aside = ""] = readdirSync(merchant.dataFolder).filter((name) => /lost-wal$/.test(name));
  expect(readFileSync(join(merchant.dataFolder, aside))).toEqual(left);
});

terminalTest(
  "a new ledger needs a typed word in a terminal, for a sandbox account too",
  async () => {
    const { merchant } = await afterLoss(removeLedger, openMerchantApart);
    const accept = (word: string) => acceptInTerminal(merchant, word);
    expect(await accept("yes")).toMatchObject({ code: 4 });
    expect(existsSync(merchant.ledgerFile)).toBe(false);
    expect(await accept("accept")).toMatchObject({ code: 0 });
    expect(existsSync(merchant.ledgerFile)).toBe(true);
  },
);

async function acceptInTerminal({ env }: Merchant, word: string) {
  const terminal = await openTerminal(["ledger", "check", "--accept"], { env });
  await terminal.answer("Type accept", word);
  return terminal.ended();
}

test("a ledger that was truncated to its header is rejected", async () => {
  const { merchant, paid } = await afterLoss((merchant) => {
    removeLedger(merchant);
  });
  await merchant.inLedger((ledger) => ledger.exec("VACUUM"));
  expect(statSync(merchant.ledgerFile).size).toBeGreaterThan(0);
  const { code, stderr } = await merchant.lenden(refundOf(paid, "60"));
  expect([code, stderr]).toEqual([1, expect.stringContaining("is empty. Nothing was sent.")]);
  expect(await merchant.books("refunds")).toHaveLength(1);
});

test.each(traces)("%s without a ledger is a trace of earlier use", async (_, leave) => {
  const merchant = await openMerchant();
  mkdirSync(merchant.dataFolder);
  leave(merchant.dataFolder);
  const { code, stderr } = await merchant.lenden(payoutOf("TRACE"));
  expect([code, stderr]).toEqual([1, expect.stringContaining("is missing, but")]);
  expect(await merchant.moneyRequests()).toEqual([]);
  expect(existsSync(merchant.ledgerFile)).toBe(false);
});

describe("a first use is not rejected", () => {
  const pay = payoutOf("FIRST");

  test.each([
    ["lenden methods", ["methods"]],
    ["lenden doctor", ["doctor"]],
    ["lenden pay list", ["pay", "list"]],
    ["lenden ledger check", ["ledger", "check"]],
    ["a dry run", payoutOf("DRY", "--dry-run")],
    ["a method that the account does not have", payoutOf("WRONG", "--method", "none")],
    ["an ID that the API does not know", ["pay", "get", "TX404"]],
  ])("after %s", async (_, line) => {
    const merchant = await openMerchant();
    await merchant.lenden(line);
    expect(await merchant.lenden(pay)).toMatchObject({ code: 0 });
  });

  test("after lenden profile add, with configuration, data and cache in one directory", async () => {
    const merchant = await openMerchantApart();
    const volume = scratchFolder();
    const env = {
      XDG_CACHE_HOME: dirname(volume),
      LENDEN_CONFIG_DIR: volume,
      LENDEN_DATA_DIR: volume,
      LENDEN_PAYOUT_SECRET: undefined,
    };
    const key = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
    expect(await built(key, { env, stdin: merchant.apiKey })).toMatchObject({ code: 0 });
    expect(await built(["methods"], { env })).toMatchObject({ code: 0 });
    const payment = ["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"];
    expect(await built(payment, { env })).toMatchObject({ code: 0 });
  });

  test("while many processes share it, of which each creates the ledger", async () => {
    const merchant = await openMerchantApart();
    const length = runs(8, 20);
    const all = await Promise.all(
      Array.from({ length }, (_, index) =>
        ended(merchant.start(payoutNumber(index, `CROWD-${index}`))),
      ),
    );
    expect(all.filter(({ code }) => code !== 0)).toEqual([]);
    expect(await merchant.books("payouts")).toHaveLength(length);
    const listed = await merchant.inLedger((ledger) =>
      ledger.prepare("SELECT state, count(*) AS count FROM operations GROUP BY state").all(),
    );
    expect(listed).toEqual([{ state: "CONFIRMED", count: BigInt(length) }]);
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
    const names = readdirSync(merchant.dataFolder).filter((name) => name.endsWith(".new"));
    expect(names).toEqual([]);
  });

  test("after a kill at any moment of the first command", async () => {
    const merchant = await openMerchantApart();
    const step = runs(3, 1);
    for (let round = 0; round < 12; round += step) {
      rmSync(merchant.dataFolder, { recursive: true, force: true });
      const child = merchant.start(["ledger", "check"]);
      const end = ended(child);
      let isOver = false;
      void end.then(() => {
        isOver = true;
      });
      // As soon as the first file is there, and then a little later each time.
      await until(() => isOver || namesIn(merchant.dataFolder).length > 0);
      for (let turn = 0; turn < round * 2; turn += 1) namesIn(merchant.dataFolder);
      child.kill("SIGKILL");
      await end;
      expect(await merchant.built(["ledger", "check"])).toMatchObject({ code: 0 });
    }
  });
});

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
