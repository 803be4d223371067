import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { built, ended } from "../support/lenden.ts";
import { type Merchant, openMerchantApart, payoutNumber, payoutOf } from "../support/merchant.ts";
import { openTerminal, terminalTest } from "../terminal/terminal.ts";

const diverged = /was truncated, rolled back or replaced .*Nothing was sent\./;

function headFile({ env }: Merchant): string {
  const folder = env.LENDEN_CONFIG_DIR ?? "";
  const [name = ""] = readdirSync(folder).filter((one) => one.startsWith("ledger-head-"));
  return join(folder, name);
}

/** Two payouts, and a copy of the ledger from before the second. */
async function twoPayouts() {
  const merchant = await openMerchantApart();
  await merchant.id(payoutNumber(1, "ONE"));
  const copy = await backupOf(merchant);
  await merchant.id(payoutNumber(2, "TWO"));
  return { merchant, copy };
}

/** Made by the tool: libsql would keep the ledger open in this process. */
async function backupOf(merchant: Merchant): Promise<string> {
  const file = join(scratchFolder(), "backup.db");
  expect(await merchant.built(["ledger", "backup", file])).toMatchObject({ code: 0 });
  return file;
}

/** The ledger is another file from now on. */
function replaceLedger({ ledgerFile }: Merchant, by: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(ledgerFile + end, { force: true });
  writeFileSync(ledgerFile, readFileSync(by));
}

const ways: [string, (merchant: Merchant, copy: string) => Promise<unknown> | unknown][] = [
  ["whose newest events were deleted, with the rows of their operation", deleteTail],
  ["that was rolled back to an older copy", replaceLedger],
  ["that was replaced by the ledger of another merchant", replaceByOther],
];

function deleteTail(merchant: Merchant): Promise<void> {
  return merchant.inLedger((ledger) =>
    ledger.exec(
      "DELETE FROM events WHERE operation = 2; DELETE FROM operations WHERE reference = 'TWO'",
    ),
  );
}

async function replaceByOther(merchant: Merchant): Promise<void> {
  const other = await openMerchantApart();
  for (const index of [1, 2, 3]) await other.id(payoutNumber(index, `OTHER-${index}`));
  replaceLedger(merchant, await backupOf(other));
}

describe.each(ways)("a ledger %s", (_, change) => {
  test("sends nothing, is reported by check and doctor, and can still be read", async () => {
    const { merchant, copy } = await twoPayouts();
    await change(merchant, copy);
    const sent = await merchant.moneyRequests();

    const again = await merchant.built(payoutNumber(2, "THREE"));

    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(diverged)]);
    expect(await merchant.moneyRequests()).toEqual(sent);
    const checked = await merchant.built(["ledger", "check", "--json"]);
    expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
      1,
      { holds: false, head: "not-contained", brokenAt: null, modified: [], damage: [] },
    ]);
    const doctor = await merchant.built(["doctor", "--json"]);
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ check: "ledger", state: "failed" }),
    );
    for (const line of [
      ["payout", "list"],
      ["pay", "list"],
      ["ledger", "export"],
    ])
      expect([line, (await merchant.built(line)).code]).toEqual([line, 0]);
    // Neither of these made the ledger acceptable.
    expect(await merchant.built(payoutNumber(2, "THREE"))).toMatchObject({ code: 1 });
  });

  test("is accepted non-interactively with the hash of its newest event only", async () => {
    const { merchant, copy } = await twoPayouts();
    await change(merchant, copy);
    const { stdout } = await merchant.built(["ledger", "check", "--json"]);
    const { newest } = JSON.parse(stdout);
    const accept = (...more: string[]) => merchant.built(["ledger", "check", ...more]);
    expect(await accept("--accept", "--yes")).toMatchObject({ code: 4 });
    expect(await accept("--accept-hash", "0".repeat(64), "--yes")).toMatchObject({ code: 2 });
    expect(await accept("--accept-hash", newest.hash)).toMatchObject({ code: 4 });
    expect(await merchant.built(payoutNumber(3, "THREE"))).toMatchObject({ code: 1 });

    const accepted = await accept("--accept-hash", newest.hash, "--yes", "--json");

    expect([accepted.code, JSON.parse(accepted.stdout)]).toMatchObject([
      0,
      { holds: true, head: "contained", accepted: { state: expect.any(String) } },
    ]);
    expect(await merchant.built(payoutNumber(3, "THREE"))).toMatchObject({ code: 0 });
  });
});

terminalTest(
  "a ledger that was rolled back is accepted with a typed word in a terminal",
  async () => {
    const { merchant, copy } = await twoPayouts();
    replaceLedger(merchant, copy);
    const accept = async (word: string) => {
      const terminal = await openTerminal(["ledger", "check", "--accept"], { env: merchant.env });
      await terminal.answer("Type accept", word);
      return terminal.ended();
    };
    expect(await accept("yes")).toMatchObject({ code: 4 });
    expect(await merchant.built(payoutNumber(2, "THREE"))).toMatchObject({ code: 1 });
    expect(await accept("accept")).toMatchObject({ code: 0 });
    expect(await merchant.built(payoutNumber(3, "THREE"))).toMatchObject({ code: 0 });
  },
);

describe("the stored head", () => {
  test("is one private file in the config directory, and follows the ledger", async () => {
    const { merchant } = await twoPayouts();
    const path = headFile(merchant);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const [newest] = await merchant.inLedger((ledger) =>
      ledger.prepare("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1").all(),
    );
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      number: String(newest?.number),
      hash: newest?.hash,
    });
    const folder = merchant.env.LENDEN_CONFIG_DIR ?? "";
    expect(readdirSync(folder).filter((name) => name.includes("ledger-head"))).toHaveLength(1);
  });

  test.each([
    ["missing", (path: string) => rmSync(path), "missing"],
    ["torn", (path: string) => writeFileSync(path, '{"number":"4","ha'), "unreadable"],
    ["empty", (path: string) => writeFileSync(path, ""), "unreadable"],
  ])("that is %s stops nothing and is stored again", async (_, change, head) => {
    const { merchant } = await twoPayouts();
    change(headFile(merchant));
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true, head });
    const warning = expect.stringContaining("cannot check if the ledger was truncated or replaced");
    const sent = await merchant.built(payoutNumber(3, "THREE"));
    expect([sent.code, sent.stderr]).toEqual([0, warning]);
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ head: "contained" });
  });

  test("is stored before the request, so that the loss of a killed run's log is detected", async () => {
    const ill = faults();
    const merchant = await openMerchantApart({ faults: ill });
    await merchant.id(payoutNumber(1, "ONE"));
    ill.push(...faults("createPayout:hang-after"));
    // Without --ref: its check for duplicates is a transaction before that of the intent.
    const child = merchant.start(payoutNumber(2, "LD-01KASW0000000000000000000Z"));
    await until(async () => (await merchant.count("payouts")) === 2);
    child.kill("SIGKILL");
    await ended(child);
    for (const end of ["-wal", "-shm"]) rmSync(merchant.ledgerFile + end, { force: true });
    const again = await merchant.built(payoutNumber(2, "LD-01KASW0000000000000000000Y"));
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(diverged)]);
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("may be older than the ledger", async () => {
    const { merchant } = await twoPayouts();
    const before = readFileSync(headFile(merchant));
    await merchant.id(payoutNumber(3, "THREE"));
    writeFileSync(headFile(merchant), before);
    expect(await merchant.json(["ledger", "check"])).toMatchObject({ head: "contained" });
    expect(await merchant.built(payoutNumber(4, "FOUR"))).toMatchObject({ code: 0 });
  });

  test("that cannot be written stops nothing", async () => {
    const merchant = await openMerchantApart();
    const file = join(merchant.dataFolder, "..", "config-file");
    writeFileSync(file, "");
    const env = { ...merchant.env, LENDEN_CONFIG_DIR: join(file, "config") };
    expect(await built(payoutOf("UNWRITTEN"), { env })).toMatchObject({ code: 0 });
  });

  test("of a ledger whose file has a second hard link is not used: each would have its own log", async () => {
    const { merchant } = await twoPayouts();
    const other = join(scratchFolder(), "ledger.db");
    linkSync(merchant.ledgerFile, other);
    const rejected = await merchant.built(payoutNumber(3, "THREE"));
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining("hard link")]);
    rmSync(other);
    linkSync(merchant.ledgerFile, `${merchant.ledgerFile}.01K00000000000000000000000.new`);
    expect(await merchant.built(payoutNumber(3, "THREE"))).toMatchObject({ code: 0 });
  });

  test("without a ledger shows that one was lost", async () => {
    const { merchant } = await twoPayouts();
    rmSync(merchant.dataFolder, { recursive: true });
    mkdirSync(merchant.dataFolder, { mode: 0o700 });
    chmodSync(merchant.dataFolder, 0o700);
    const { code, stderr } = await merchant.built(payoutOf("AFTER"));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is missing, but .*ledger-head/)]);
  });
});
