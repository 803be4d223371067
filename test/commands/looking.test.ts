import { Writable } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { hasTerminal, onTerminal } from "../support/pseudo-terminal.ts";

const account = testAccount();
const send = [
  ...["payout", "send", "--amount", "125000.50", "--to", "01712345678", "--method", "bkash"],
  ...["--ref", "INV-7", "--description", "মাসিক বেতন"],
];
let payout = "";
beforeAll(async () => {
  payout = await account.id(send);
});

describe("an empty list names the next command", () => {
  test.each([
    [["pay", "list"], "'lenden pay create --help'"],
    [["payout", "list"], "'lenden payout send --help'"],
    [["refund", "list"], "'lenden refund create --help'"],
    [["payout", "batch", "list"], "'lenden payout batch template'"],
    [["profile", "list"], "'lenden profile add'"],
  ])("%j", async (line, next) => {
    const env = { LENDEN_CONFIG_DIR: scratchFolder() };
    const { code, stdout } = await account.run(line, { env });
    expect(code).toBe(0);
    expect(stdout).toContain(next);
  });

  test("a filtered list does not claim that nothing was sent", async () => {
    const { stdout } = await account.run(["payout", "list", "--status", "Cancelled"]);
    expect(stdout).toMatch(/^No payout matches\. .*'lenden payout list'/);
    expect(await account.json(["payout", "list", "--status", "Cancelled"])).toEqual([]);
  });

  test("an empty export is reported on stderr and is still a list", async () => {
    const env = { LENDEN_CONFIG_DIR: scratchFolder() };
    const { stdout, stderr } = await account.run(["ledger", "export"], { env });
    expect([stdout, stderr]).toEqual(["", expect.stringContaining("nothing of this account yet")]);
    const json = await account.run(["ledger", "export", "--json"], { env });
    expect(json).toMatchObject({ stdout: "[]\n", stderr: "" });
  });
});

describe("money is grouped in lakh for people, and exact in JSON", () => {
  test("in the ledger's card and in the message of another payout", async () => {
    const { stdout } = await account.run(["ledger", "show", "INV-7"]);
    expect(stdout).toContain("BDT 1,25,000.50");
    expect(await account.json(["ledger", "show", "INV-7"])).toMatchObject({ amount: "125000.5" });
    const other = await account.run(send.with(3, "125000.51"));
    expect(other.stderr).toContain(
      "amount: requested BDT 1,25,000.51, the ledger has BDT 1,25,000.50",
    );
  });
});

describe("times", () => {
  const dhaka = /2[0-9]{3}, \d\d:\d\d:\d\d/;

  test("are shown in the local zone: in tables, cards, histories and messages", async () => {
    const env = account.env();
    const pay = ["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"];
    const payment = await account.id(pay);
    await account.run(["sandbox", "trigger", "payment", payment]);
    const refund = [
      ...["refund", "create", "--payment", payment, "--amount", "2", "--account-number", "01812"],
      ...["--account-type", "personal"],
    ];
    await account.run(refund);
    for (const line of [
      ["pay", "list"],
      ["pay", "get", payment],
      ["ledger", "show", payment],
      refund,
    ]) {
      const shownIn = async (TZ: string) => {
        const { stdout, stderr } = await built(line, { env: { ...env, TZ } });
        return dhaka.exec(stdout + stderr)?.[0] ?? "";
      };
      const [utc, local] = [await shownIn("UTC"), await shownIn("Asia/Dhaka")];
      const hours = (Number(local.slice(6, 8)) - Number(utc.slice(6, 8)) + 24) % 24;
      expect([line[1], hours]).toEqual([line[1], 6]);
    }
  });

  test("show how long ago it was in a terminal, and nowhere else", async () => {
    const host = { now: () => Date.now() + 180_000 };
    for (const line of [
      ["payout", "list"],
      ["payout", "get", payout],
      ["ledger", "show", payout],
    ]) {
      const screen = terminal();
      await account.run(line, { host: { ...host, stdout: screen } });
      expect(screen.shown()).toContain("3 min ago");
      for (const format of ["json", "ndjson", "csv"]) {
        const exact = terminal();
        await account.run([...line, "-o", format], { host: { ...host, stdout: exact } });
        expect(exact.shown()).not.toContain("ago");
      }
      expect((await account.run(line, { host })).stdout).not.toContain("ago");
    }
  });
});

describe.skipIf(!hasTerminal)("color in a terminal", () => {
  const colored = /\p{Cc}\[\d+m/u;

  test.each<[string, Record<string, string>, string[], boolean]>([
    ["no variable", {}, [], true],
    ["NO_COLOR", { NO_COLOR: "1" }, [], false],
    ["a dumb terminal", { TERM: "dumb" }, [], false],
    ["a dumb terminal and FORCE_COLOR", { TERM: "dumb", FORCE_COLOR: "1" }, [], true],
    ["--color never", {}, ["--color", "never"], false],
    ["--color always and NO_COLOR", { NO_COLOR: "1" }, ["--color", "always"], true],
  ])("with %s: %j %j %j", async (_, more, flags, wants) => {
    const env = { ...account.env(), ...more };
    const { shown } = await onTerminal(["methods", ...flags], { env });
    expect(shown).toContain("bkash");
    expect(colored.test(shown)).toBe(wants);
  });
});

test("a terminal of one column is supported", async () => {
  const screen = terminal(1);
  const { code } = await lenden(["payout", "list"], {
    env: account.env(),
    host: { stdout: screen },
  });
  expect(code).toBe(0);
  expect(screen.shown()).toContain("P");
});

/** A terminal of so many columns, and what it shows. */
function terminal(columns = 120) {
  let text = "";
  const sink = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return Object.assign(sink, { isTTY: true, columns, shown: () => text });
}
