import { renameSync, truncateSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { errorOf, lenden } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchant,
  openProductionMerchant,
  paidPayment,
  payoutNumber,
  refundOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import { openPrompts } from "../terminal/terminal.ts";

const order = [
  ...["amount=5", "description=y", "paymentMethodId=m"],
  ...["redirect_url=https://a.example/", "callback_url=https://a.example/"],
].flatMap((field) => ["-f", field]);

describe("a ledger file that was not moved", () => {
  /** A machine that used its file, and uses a server's ledger from now on. */
  async function setup() {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann");
    const merchant = await openMerchant();
    const payment = await paidPayment(merchant);
    expect((await merchant.lenden(refundOf(payment, "60"))).code).toBe(0);
    const env = { ...merchant.env, LENDEN_LEDGER_URL: url("ann") };
    const run = (line: string[]) => lenden(line, { env });
    const again = () => run([...refundOf(payment, "60"), "--json"]);
    const newest = () =>
      merchant.inLedger((ledger) =>
        String(ledger.prepare("SELECT hash FROM events ORDER BY number DESC").get()?.hash),
      );
    const accept = async (...more: string[]) =>
      run(["ledger", "check", "--accept-file", "--json", ...more]);
    return { env, database, url: url("ann"), merchant, run, again, newest, accept };
  }

  serverTest.each<[string, (merchant: Merchant) => unknown]>([
    ["is missing", ({ ledgerFile }) => renameSync(ledgerFile, `${ledgerFile}.away`)],
    ["is empty", ({ ledgerFile }) => truncateSync(ledgerFile)],
    [
      "is older than it was",
      ({ inLedger }) =>
        inLedger((ledger) =>
          ledger.exec("DELETE FROM events WHERE number = (SELECT max(number) FROM events)"),
        ),
    ],
  ])("lets nothing be sent if the file %s, until it is accepted", async (_, lose) => {
    const { merchant, run, again, newest, accept } = await setup();
    const hash = await newest();
    await lose(merchant);
    const denied = await again();
    expect([denied.code, errorOf(denied).reason]).toEqual([1, "ledger.not-moved"]);
    expect(await merchant.count("refunds")).toBe(1);
    expect(errorOf(denied).hint).toContain(`--accept-hash ${hash}`);
    const { code, stdout } = await accept("--accept-hash", hash, "--yes");
    expect([code, JSON.parse(stdout).file?.state ?? "accepted"]).toEqual([0, "accepted"]);
    expect((await run(payoutNumber(1, "NEW"))).code).toBe(0);
  });

  serverTest("lets no command send anything, whatever names the server", async () => {
    const { database, url, merchant, run, again, newest } = await setup();
    const denied = await again();
    expect([denied.code, errorOf(denied)]).toMatchObject([
      1,
      { reason: "ledger.not-moved", effect: "nothing-sent" },
    ]);
    expect(errorOf(denied).hint).toContain("'lenden ledger move postgres://ann@");
    expect(errorOf(denied).hint).toContain(`--accept-hash ${await newest()}`);
    for (const line of [
      payoutNumber(1, "NEW"),
      ["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"],
      ["api", "POST", "/payment/create", ...order],
      ["ledger", "resolve"],
    ])
      expect([line[1], (await run(line)).code]).toEqual([line[1], 1]);
    expect(await merchant.count("refunds")).toBe(1);
    expect(await merchant.count("payouts")).toBe(0);
    const read = await run(["payout", "list"]);
    expect([read.code, read.stderr]).toEqual([0, ""]);
    const { LENDEN_API_KEY: key, LENDEN_BASE_URL: baseUrl = "", ...others } = merchant.env;
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", baseUrl];
    await lenden(add, { env: others, stdin: `${key}\n` });
    const set = await lenden(["profile", "set", "ledger", url], { env: others });
    expect([set.code, set.stderr]).toEqual([0, expect.stringContaining(`/${database}'.`)]);
    expect(await lenden(payoutNumber(2, "PROFILE"), { env: others })).toMatchObject({ code: 1 });
    const { code, stdout } = await run(["doctor", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      expect.arrayContaining([expect.objectContaining({ check: "ledger-file", state: "failed" })]),
    ]);
  });

  serverTest("is accepted by its newest event, until it gets another one", async () => {
    const { merchant, run, again, newest, accept } = await setup();
    const checked = await run(["ledger", "check", "--json"]);
    const hash = await newest();
    expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
      1,
      { holds: true, file: { path: merchant.ledgerFile, state: "not-moved", newest: hash } },
    ]);
    expect(await accept()).toMatchObject({ code: 4 });
    expect(await accept("--yes")).toMatchObject({ code: 4 });
    expect(await accept("--yes", "--accept-hash", "0".repeat(64))).toMatchObject({ code: 2 });
    expect(await accept("--yes", "--accept-hash", hash, "--accept")).toMatchObject({ code: 2 });
    expect(await again()).toMatchObject({ code: 1 });
    const accepted = await accept("--yes", "--accept-hash", hash);
    expect([accepted.code, JSON.parse(accepted.stdout)]).toMatchObject([
      0,
      { accepted: null, file: { state: "accepted" } },
    ]);
    expect(await run(payoutNumber(1, "NEW"))).toMatchObject({ code: 0 });
    const [recorded] = await merchant.inLedger((ledger) =>
      ledger.prepare("SELECT data FROM events WHERE event = 'file-accepted'").all(),
    );
    expect(JSON.parse(String(recorded?.data))).toMatchObject({ user: "tester" });
    // The file is still a ledger, and what it records is not accepted.
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
    expect(await merchant.lenden(payoutNumber(2, "FILE"))).toMatchObject({ code: 0 });
    expect(errorOf(await again()).reason).toBe("ledger.not-moved");
    expect(await accept("--yes", "--accept-hash", hash)).toMatchObject({ code: 2 });
  });

  serverTest("is accepted for one server and one environment", async () => {
    const cluster = await sharedCluster();
    const [url, otherUrl] = [
      await teamLedger(cluster, "ann"),
      await teamLedger(cluster, "ann"),
    ].map((ledger) => ledger.url("ann"));
    const [trial, production] = [await openMerchant(), await openProductionMerchant()];
    const { LENDEN_DATA_DIR = "", LENDEN_CONFIG_DIR = "" } = production.env;
    const folders = { LENDEN_DATA_DIR, LENDEN_CONFIG_DIR };
    const run = (of: { env: Record<string, string> }, server: string | undefined, line: string[]) =>
      lenden(line, {
        env: { ...of.env, ...folders, ...(server ? { LENDEN_LEDGER_URL: server } : {}) },
      });
    let sent = 0;
    const send = async (of: { env: Record<string, string> }, server?: string) => {
      sent += 1;
      const line = [...payoutNumber(sent, `SENT-${sent}`), "--yes", "--json"];
      const outcome = await run(of, server, line);
      return outcome.code === 0 ? 0 : errorOf(outcome).reason;
    };
    const accept = async (of: { env: Record<string, string> }, server: string | undefined) => {
      const { stdout } = await run(of, server, ["ledger", "check", "--json"]);
      const hash = JSON.parse(stdout).file.newest;
      const line = ["ledger", "check", "--accept-file", "--yes", "--accept-hash", hash];
      return (await run(of, server, line)).code;
    };
    expect([await send(trial), await send(production)]).toEqual([0, 0]);
    const keyless = { env: { LENDEN_BASE_URL: trial.baseUrl } };
    expect(await accept(keyless, url)).toBe(2);
    expect(await accept(trial, url)).toBe(0);
    expect(await send(trial, url)).toBe(0);
    expect(await send(trial, otherUrl)).toBe("ledger.not-moved");
    expect(await send(production, url)).toBe("ledger.not-moved");
    // Each acceptance keeps its effect beside the others.
    expect(await accept(production, url)).toBe(0);
    expect(await accept(trial, otherUrl)).toBe(0);
    expect(await send(production, otherUrl)).toBe("ledger.not-moved");
    for (const [of, server] of [
      [production, url],
      [trial, url],
      [trial, otherUrl],
    ] as const)
      expect(await send(of, server)).toBe(0);
  });

  serverTest("is accepted in a terminal by typing it", async () => {
    const { env, run } = await setup();
    const send = async () => (await run(payoutNumber(1, "NEW"))).code;
    const accept = async (word: string) => {
      const prompts = openPrompts(["ledger", "check", "--accept-file"], { env });
      await prompts.answer("Type accept", word);
      return (await prompts.ended()).code;
    };
    expect([await accept("yes"), await send()]).toEqual([4, 1]);
    expect([await accept("accept"), await send()]).toEqual([0, 0]);
  });

  test("is accepted beside a server only", async () => {
    const merchant = await openMerchant();
    const { code, stderr } = await merchant.lenden(["ledger", "check", "--accept-file"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--accept-file")]);
  });
});
