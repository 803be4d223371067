import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, jumpingHost, lenden, typedBy } from "../support/lenden.ts";
import {
  alter as alterFixed,
  inDatabase,
  type Merchant,
  openMerchant,
  openProductionMerchant,
  paidPayment,
  payoutNumber,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";

const agent = { LENDEN_ACTOR: "agent" };

async function limited(...flags: string[]): Promise<Merchant> {
  const merchant = await openMerchant();
  await merchant.json(["limits", "set", ...flags]);
  return merchant;
}

/** A file of payouts to one recipient each, in BDT. */
function fileOf(...amounts: string[]): string {
  const path = join(scratchFolder(), "pay.csv");
  const rows = amounts.map((amount, at) => `${amount},017${10_000_000 + at}`);
  writeFileSync(path, ["amount,to", ...rows].join("\n"));
  return path;
}

const sendOf = (file: string) => ["payout", "batch", "send", file, "--method", "bkash", "--yes"];

async function newestBatch(merchant: Merchant): Promise<string> {
  const { stdout } = await merchant.lenden(["payout", "batch", "list", "--json"]);
  const [newest]: { batch: string }[] = JSON.parse(stdout);
  return newest?.batch ?? "";
}

async function rejected(merchant: Merchant, line: string[]) {
  const ended = await merchant.lenden([...line, "--json"]);
  expect(ended.code).toBe(4);
  return errorOf(ended);
}

test("limits are shown with what is used and left, and an empty value removes one", async () => {
  const merchant = await limited("--payout", "25000", "--day", "12.50", "--repeat", "reject");
  expect((await merchant.lenden(payoutNumber(1, "A"))).code).toBe(0);
  const shown = await merchant.json(["limits"]);
  expect(shown).toMatchObject([
    { name: "payout", value: "25000.00", used: null },
    { name: "day", value: "12.50", used: "5.00", left: "7.50", freesAt: expect.any(String) },
    { name: "refund-day", value: null, changedBy: null },
    { name: "new-recipient", value: null },
    { name: "repeat", value: "reject" },
    { name: "agent-payout", value: null },
    { name: "agent-day", value: null },
  ]);
  expect(await merchant.json(["limits", "set", "--day", ""])).toMatchObject([
    { name: "payout", value: "25000.00" },
    { name: "day", value: null },
    ...Array(5).fill({}),
  ]);
});

test("what is above a limit says how much is left and when, and the command that raises it", async () => {
  const merchant = await limited("--day", "7");
  expect((await merchant.lenden(payoutNumber(1, "A"))).code).toBe(0);
  const error = await rejected(merchant, payoutNumber(2, "B"));
  expect(error).toMatchObject({
    ...{ kind: "access", reason: "limits.day", effect: "nothing-sent" },
    ...{ limit: "7.00", used: "5.00", left: "2.00", freesAt: expect.stringMatching(/Z$/) },
  });
  expect((await merchant.lenden(typedBy(error.hint, "limits set"))).code).toBe(0);
  expect((await merchant.lenden(payoutNumber(2, "B"))).code).toBe(0);
  expect(await merchant.count("payouts")).toBe(2);
});

test("an agent's file that repeats a payout is for a person, with the command's flag", async () => {
  const merchant = await limited("--agent-payout", "100", "--agent-day", "1000");
  expect((await merchant.lenden(payoutNumber(1, "A"))).code).toBe(0);
  const file = fileOf("10", "20");
  const send = ["payout", "batch", "send", file, "--method", "bkash", "--yes", "--json"];
  const env = { ...merchant.env, ...agent };
  expect((await lenden(send, { env })).code).toBe(0);
  const again = join(scratchFolder(), "again.csv");
  writeFileSync(again, readFileSync(file, "utf8").replace("20,", "20.50,"));
  const ended = await lenden(send.with(3, again), { env });
  expect(ended.code).toBe(2);
  expect(errorOf(ended).hint).toMatch(
    /^A person has to decide: .+ For the person: .+--allow-duplicates/,
  );
});

test("a file above a limit is rejected by its check, its preview and its sending", async () => {
  const merchant = await limited("--payout", "100", "--day", "1000", "--new-recipient", "50");
  const check = ["payout", "batch", "check"];
  const send = ["payout", "batch", "send"];
  const files = {
    "limits.payout": fileOf("10", "100.01", "30", "200"),
    "limits.day": fileOf(...Array(21).fill("49")),
    "limits.new-recipient": fileOf("10", "50.01", "50"),
  };
  for (const [reason, file] of Object.entries(files))
    for (const line of [check, send, [...send, "--dry-run"]])
      expect(await rejected(merchant, [...line, file, "--method", "bkash"])).toMatchObject({
        reason,
      });
  const { stderr } = await merchant.lenden([...check, files["limits.payout"], "--method", "bkash"]);
  expect(stderr).toContain("line 3: BDT 100.01 to 01710000001");
  expect(stderr).toContain("line 5: BDT 200.00 to 01710000003");
  expect(stderr).not.toContain("line 2:");
  const within = fileOf("50", "50");
  expect((await merchant.lenden([...check, within, "--method", "bkash"])).code).toBe(0);
  expect((await merchant.lenden([...send, within, "--method", "bkash"])).code).toBe(0);
  // What was sent is not judged again.
  await merchant.json(["limits", "set", "--payout", "0", "--day", "0", "--new-recipient", "0"]);
  expect((await merchant.lenden([...check, within, "--method", "bkash"])).code).toBe(0);
  expect(await merchant.count("payouts")).toBe(2);
});

/** A batch with a row that is above a limit since a person reported its first payout as not created. */
async function withUnjudgedRow() {
  const ill: Fault[] = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  const file = join(scratchFolder(), "pay.csv");
  writeFileSync(file, "ref,amount,to\nA,60,01712345678\nB,30,01712345679");
  const one = [
    "payout",
    "send",
    "--amount",
    "60",
    "--to",
    "01712345678",
    "--ref",
    "A",
    "--method",
    "bkash",
  ];
  expect((await merchant.lenden([...one, "--timeout", "1s"])).code).toBe(75);
  ill.splice(0, 1, ...faults("createPayout:status-403"));
  expect((await merchant.lenden([...sendOf(file), "--timeout", "2s"])).code).toBe(75);
  ill.splice(0);
  expect((await merchant.lenden(["ledger", "resolve", "A", "--not-created", "--yes"])).code).toBe(
    0,
  );
  await merchant.json(["limits", "set", "--payout", "50"]);
  return { merchant, file };
}

test("a row that was not judged with its plan is judged when it is sent, with the limit's own reason", async () => {
  const { merchant, file } = await withUnjudgedRow();
  const error = await rejected(merchant, sendOf(file));
  expect(error).toMatchObject({ reason: "limits.payout", limit: "50.00" });
  expect((await merchant.lenden(typedBy(error.hint, "limits set"))).code).toBe(0);
  expect((await merchant.lenden(sendOf(file))).code).toBe(0);
  expect(await merchant.count("payouts")).toBe(2);
});

test("an agent repeats no payout, and the command that it names works for a person", async () => {
  const merchant = await openMerchant();
  await merchant.json(payoutOf("A"));
  const line = payoutOf("B", "--name", "Rahim O'Neil", "--yes");
  const ended = await lenden([...line, "--json"], { env: { ...merchant.env, ...agent } });
  expect(ended.code).toBe(4);
  const error = errorOf(ended);
  expect(error).toMatchObject({ reason: "limits.repeat", operation: "A" });
  expect((await merchant.lenden(typedBy(error.hint, "payout send"))).code).toBe(0);
  expect(await merchant.books("payouts")).toMatchObject([
    { merchantRef: "A" },
    { merchantRef: "B", recipientName: "Rahim O'Neil" },
  ]);
});

test("what an agent may repeat as little as a person is no advice for it alone", async () => {
  const merchant = await limited("--repeat", "reject");
  await merchant.json(payoutOf("A"));
  const ended = await lenden([...payoutOf("B"), "--json"], { env: { ...merchant.env, ...agent } });
  expect(errorOf(ended)).toMatchObject({
    reason: "limits.repeat",
    hint: expect.stringContaining("To allow repeats of people and scripts, "),
  });
});

test("a reference that another account used days ago is no repetition within a day", async () => {
  const merchant = await openProductionMerchant();
  await merchant.lenden(["limits", "set", "--repeat", "reject"]);
  expect((await merchant.lenden(payoutOf("A"), { LENDEN_ACCOUNT: "first" })).code).toBe(0);
  const otherKey = "public-ABC-MNOPQRSTUVWX-XYZ";
  await merchant.rotateKey(otherKey);
  const second = { LENDEN_API_KEY: otherKey, LENDEN_ACCOUNT: "second" };
  const reasonAfter = async (hours: number) => {
    const host = jumpingHost(hours * 60 * 60_000);
    const line = [...payoutOf("A"), "--yes", "--json"];
    const { code, ...ended } = await merchant.lendenUnasked(line, second, host);
    return [code, errorOf(ended).reason];
  };
  expect(await reasonAfter(0)).toEqual([4, "limits.repeat"]);
  expect(await reasonAfter(72)).toEqual([3, "payout.duplicate"]);
});

test("a repeat can be sent a day after the last of several payouts, when the error says", async () => {
  let laterMs = 0;
  const ill: Fault[] = faults("createPayout:status-401");
  const merchant = await openMerchant({ faults: ill, now: () => Date.now() + laterMs });
  const sendAt = (hours: number, reference: string) => {
    laterMs = hours * 60 * 60_000;
    return merchant.lenden([...payoutOf(reference), "--json"], { host: jumpingHost(laterMs) });
  };
  expect((await sendAt(0, "X1")).code).toBe(4);
  ill.splice(0);
  expect((await sendAt(1, "X2")).code).toBe(0);
  expect((await sendAt(10, "X1")).code).toBe(0);
  await merchant.json(["limits", "set", "--repeat", "reject"]);
  const { message, freesAt } = errorOf(await sendAt(11, "X3"));
  expect(message).toContain("was sent as X1 on ");
  const hours = (Date.parse(String(freesAt)) - Date.now()) / (60 * 60_000);
  expect(hours).toBeGreaterThan(33.9);
  expect(errorOf(await sendAt(hours - 0.1, "X3")).reason).toBe("limits.repeat");
  // Then nothing but the clock is wrong.
  expect(errorOf(await sendAt(hours + 0.1, "X3")).reason).toBe("clock.differs");
});

test("no payout is repeated, also not with --again, until a person allows it", async () => {
  const merchant = await limited("--repeat", "reject");
  await merchant.json(payoutOf("A"));
  for (const more of [[], ["--again"]]) {
    const error = await rejected(merchant, payoutOf("B", ...more));
    expect(error).toMatchObject({ reason: "limits.repeat", limit: "reject" });
    expect(error.hint).toContain("'lenden limits set --repeat warn'");
  }
  await merchant.json(["limits", "set", "--repeat", "warn"]);
  expect((await merchant.lenden(payoutOf("B"))).code).toBe(0);
});

serverTest(
  "on a server only a member of lenden_owner sets limits, which bind every login",
  async () => {
    const cluster = await sharedCluster();
    const { url } = await teamLedger(cluster, "ann");
    const [known] = await cluster.run("SELECT 1 FROM pg_roles WHERE rolname = 'olga'");
    if (!known) await cluster.run("CREATE ROLE olga LOGIN IN ROLE lenden_owner");
    const merchant = await openMerchant();
    const at = (login: string, line: string[]) =>
      lenden([...line, "--json"], { env: { ...merchant.env, LENDEN_LEDGER_URL: url(login) } });
    const set = ["limits", "set", "--day", "7"];
    const denied = await at("ann", set);
    expect([denied.code, errorOf(denied)]).toMatchObject([
      ...[4, { reason: "ledger.access-denied", hint: expect.stringContaining("lenden_owner") }],
    ]);
    expect(await at("olga", set)).toMatchObject({ code: 0 });
    expect((await at("ann", payoutNumber(1, "A"))).code).toBe(0);
    const above = await at("ann", payoutNumber(2, "B"));
    expect([above.code, errorOf(above)]).toMatchObject([4, { reason: "limits.day" }]);
    // It may set them, before anything else was recorded, and nothing more.
    expect((await at("olga", payoutNumber(3, "C"))).code).toBe(4);
    const shown: unknown = JSON.parse((await at("ann", ["limits"])).stdout);
    expect(shown).toMatchObject([{}, { left: "2.00", changedBy: "olga" }, {}, {}, {}, {}, {}]);
  },
);

serverTest(
  "a row that repeats what a colleague saw Cancelled is omitted, and the others are sent",
  async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann", "ben");
    const merchant = await openMerchant();
    const at = (login: string, line: string[]) =>
      lenden([...line, "--json"], { env: { ...merchant.env, LENDEN_LEDGER_URL: url(login) } });
    const first = ["payout", "send", "--amount", "5", "--to", "01710000000", "--method", "bkash"];
    const { payoutId } = JSON.parse((await at("ann", [...first, "--ref", "A"])).stdout);
    await inDatabase(merchant.booksFile, (books) =>
      books.prepare("UPDATE records SET status = 'Cancelled'").run(),
    );
    expect(await at("ben", ["payout", "get", payoutId])).toMatchObject({ code: 0 });
    const limits = ["limits", "set", "--repeat", "reject", "--json"];
    const env = { ...merchant.env, LENDEN_LEDGER_URL: cluster.url(database) };
    expect(await lenden(limits, { env })).toMatchObject({ code: 0 });
    const ended = await at("ann", sendOf(fileOf("5", "6")));
    const error = errorOf(ended);
    expect([ended.code, error]).toMatchObject([
      ...[4, { reason: "limits.repeat", limit: "reject", effect: "partly-sent" }],
    ]);
    expect(error.hint).toContain("It can be sent from ");
    expect(await merchant.books("payouts")).toHaveLength(2);
  },
);

serverTest("a function that a colleague creates in the search path is never called", async () => {
  const cluster = await sharedCluster();
  const { database, url } = await teamLedger(cluster, "ann");
  const merchant = await openMerchant();
  const at = (line: string[]) =>
    lenden(line, { env: { ...merchant.env, LENDEN_LEDGER_URL: url("ann") } });
  expect(await at(payoutNumber(1, "A"))).toMatchObject({ code: 0 });
  // As in a database that was created by PostgreSQL 14. These fit better than those of the server.
  const raises = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called'; END $$";
  await cluster.run(
    `CREATE FUNCTION public.add(json, json) RETURNS json ${raises};
     CREATE AGGREGATE public.json_agg(json) (sfunc = public.add, stype = json, initcond = '[]');
     CREATE FUNCTION public.times(numeric, integer) RETURNS numeric ${raises};
     CREATE OPERATOR public.* (leftarg = numeric, rightarg = integer, function = public.times);`,
    database,
  );
  const lines = [
    payoutNumber(2, "B"),
    ["limits"],
    ["ledger", "list"],
    ["ledger", "show", "A"],
    ["ledger", "check"],
    ["ledger", "processes"],
    ["payout", "batch", "list"],
    ["report"],
    ["doctor"],
    ["ledger", "export"],
  ];
  for (const line of lines) expect(await at(line)).toMatchObject({ code: 0 });
});

test("a limit that cannot be read stops sending, and says so", async () => {
  const merchant = await limited("--day", "7");
  const alter = (sql: string) =>
    merchant.inLedger((database) => alterFixed(database, () => database.exec(sql)));
  for (const change of ["value = '7.00'", "name = 'week'"]) {
    await alter(`UPDATE limits SET ${change}`);
    const ended = await merchant.lenden([...payoutOf("A"), "--json"]);
    expect([ended.code, errorOf(ended)]).toMatchObject([1, { reason: "ledger.modified" }]);
  }
  expect(await merchant.count("payouts")).toBe(0);
});

test("a machine whose clock is wrong sends no refund: the day of its limit would be another one", async () => {
  const merchant = await limited("--refund-day", "100");
  const payment = await paidPayment(merchant);
  expect((await merchant.lenden(refundOf(payment, "60"))).code).toBe(0);
  const host = jumpingHost(25 * 60 * 60_000);
  for (const more of [[], ["--again"]]) {
    const ended = await merchant.lenden([...refundOf(payment, "30"), ...more, "--json"], { host });
    expect([ended.code, errorOf(ended)]).toMatchObject([4, { reason: "clock.differs" }]);
  }
  expect(await merchant.count("refunds")).toBe(1);
});

test("a file that was planned by a clock that was ahead is not sent: limits judged another day", async () => {
  const merchant = await limited("--day", "100");
  expect((await merchant.lenden(sendOf(fileOf("90")))).code).toBe(0);
  const send = [...sendOf(fileOf("40", "51")), "--json"];
  const ahead = jumpingHost(25 * 60 * 60_000);
  expect((await merchant.lenden(send, { host: ahead })).code).not.toBe(0);
  const newest = await newestBatch(merchant);

  const ended = await merchant.lenden(send);

  expect([ended.code, errorOf(ended)]).toMatchObject([4, { reason: "clock.differs" }]);
  expect(await merchant.count("payouts")).toBe(1);
  const cancel = typedBy(errorOf(ended).hint, `payout batch cancel ${newest}`);
  expect((await merchant.lenden([...cancel, "--yes"])).code).toBe(0);
  const again = await rejected(merchant, [...send.slice(0, -1), "--name", "again"]);
  expect(again).toMatchObject({ reason: "limits.day" });
});

test("commands of a hint name the profile of the command line", async () => {
  const merchant = await limited("--day", "4");
  const { LENDEN_DATA_DIR } = merchant.env;
  const env = { LENDEN_DATA_DIR, LENDEN_CONFIG_DIR: scratchFolder() };
  const stdin = `${merchant.apiKey}\n${merchant.env.LENDEN_PAYOUT_SECRET}\n`;
  const add = ["profile", "add", "twin", "--key-stdin", "--secret-stdin", "--yes"];
  const added = await lenden([...add, "--base-url", merchant.baseUrl], { env, stdin });
  expect(added).toMatchObject({ code: 0 });

  const line = [...payoutNumber(2, "B"), "--profile", "twin", "--json"];
  const ended = await lenden(line, { env });

  expect(errorOf(ended)).toMatchObject({
    reason: "limits.day",
    hint: expect.stringMatching(/'lenden limits set --day [0-9.]+ --profile twin'/),
  });
});

test("a production profile remembers that limits were set, and rejects a ledger without them", async () => {
  const merchant = await openProductionMerchant();
  const { NODE_EXTRA_CA_CERTS, LENDEN_API_KEY } = merchant.env;
  const env = { NODE_EXTRA_CA_CERTS, LENDEN_CONFIG_DIR: scratchFolder() };
  const stdin = `${LENDEN_API_KEY}\n${merchant.payoutSecret}\n`;
  const add = ["profile", "add", "shop", "--key-stdin", "--secret-stdin", "--yes"];
  for (const line of [
    [...add, "--base-url", merchant.baseUrl],
    ["limits", "set", "--day", "100", "--yes"],
  ])
    expect(await lenden(line, { env, stdin })).toMatchObject({ code: 0 });

  const other = { ...env, LENDEN_DATA_DIR: scratchFolder() };
  const ended = await lenden([...payoutNumber(1, "A"), "--yes", "--json"], { env: other });

  expect([ended.code, errorOf(ended)]).toMatchObject([4, { reason: "limits.missing" }]);
  expect(await merchant.books("payouts")).toEqual([]);
});

test("an agent cancels a batch that a person planned, above any limit", async () => {
  const merchant = await limited("--payout", "50");
  const host = jumpingHost(25 * 60 * 60_000);
  await merchant.lenden(sendOf(fileOf("40")), { host });
  const batch = await newestBatch(merchant);
  const cancel = ["payout", "batch", "cancel", batch, "--yes", "--json"];
  const { code, stdout } = await lenden(cancel, { env: { ...merchant.env, ...agent } });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { states: { unsent: { rows: 1 } } }]);
});

test("a file with accepted duplicates is rejected by its check if no payout may be repeated", async () => {
  const merchant = await limited("--repeat", "reject");
  const file = join(scratchFolder(), "twice.csv");
  writeFileSync(file, "amount,to\n10,01712345678\n20,01712345679\n10,01712345678\n");
  const accepted = [file, "--method", "bkash", "--allow-duplicates"];
  for (const command of [["check"], ["send", "--dry-run"], ["send", "--yes"]]) {
    const error = await rejected(merchant, ["payout", "batch", ...command, ...accepted]);
    expect(error).toMatchObject({ reason: "limits.repeat", problems: ["line 2", "line 4"] });
  }
  const ended = await merchant.lenden(["payout", "batch", "send", file, "--yes", "--json"]);
  // To accept duplicates is not enough.
  expect(errorOf(ended).hint).toContain("'lenden limits set --repeat warn'");
});

test("no limit believes at once that a payout was not created, in a command and in a file", async () => {
  const ill: Fault[] = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  await merchant.lenden(payoutOf("LOST"), { host: jumpingHost() });
  ill.splice(0);
  const notCreated = ["ledger", "resolve", "LOST", "--not-created", "--yes"];
  expect((await merchant.lenden(notCreated)).code).toBe(0);
  await merchant.json(["limits", "set", "--repeat", "reject"]);
  const error = await rejected(merchant, payoutOf("B", "--again"));
  expect(error).toMatchObject({ reason: "limits.repeat", operation: "LOST" });
  expect(Date.parse(String(error.freesAt))).toBeGreaterThan(Date.now() + 86_000_000);
  const file = join(scratchFolder(), "pay.csv");
  writeFileSync(file, "amount,to\n7,01712345679\n5,01712345678\n");
  for (const command of [["check"], ["send", "--dry-run"], ["send", "--yes"]]) {
    const line = ["payout", "batch", ...command, file, "--method", "bkash"];
    const repeats = { reason: "limits.repeat", problems: ["line 3"] };
    expect(await rejected(merchant, line)).toMatchObject(repeats);
    // What an agent may not repeat needs no limit.
    await merchant.json(["limits", "set", "--repeat", "warn"]);
    const ended = await lenden([...line, "--json"], { env: { ...merchant.env, ...agent } });
    expect([ended.code, errorOf(ended)]).toMatchObject([4, repeats]);
    await merchant.json(["limits", "set", "--repeat", "reject"]);
  }
  expect(await merchant.count("payouts")).toBe(0);
  expect((await merchant.lenden(payoutOf("LOST"))).code).toBe(0);
});

test("a planned row is sent a day after a payout beside it was reported as not created", async () => {
  let laterMs = 0;
  const at = (hours: number) => ({ host: jumpingHost(hours * 60 * 60_000) });
  const ill: Fault[] = faults("createPayout:lost-reply");
  const merchant = await openMerchant({ faults: ill, now: () => Date.now() + laterMs });
  const file = fileOf("5");
  await merchant.lenden(sendOf(file), at(-25));
  expect((await merchant.lenden(payoutNumber(0, "LOST", "--again"), at(0))).code).toBe(75);
  ill.splice(0);
  const notCreated = ["ledger", "resolve", "LOST", "--not-created", "--yes"];
  expect((await merchant.lenden(notCreated)).code).toBe(0);
  await merchant.json(["limits", "set", "--repeat", "reject"]);
  const error = await rejected(merchant, sendOf(file));
  expect(error).toMatchObject({ reason: "limits.repeat", problems: ["line 2"] });
  expect(error.hint).toContain("'lenden payout batch cancel ");
  expect(await merchant.count("payouts")).toBe(1);
  laterMs = 25 * 60 * 60_000;
  await merchant.lenden(sendOf(file), at(25));
  expect(await merchant.count("payouts")).toBe(2);
});

test("verify-api names the limit that stops it", async () => {
  const merchant = await limited("--payout", "0.50");
  const ended = await merchant.lenden(["verify-api", "--yes", "--json"]);
  expect(`${ended.stdout}${ended.stderr}`).toContain("limit");
  expect(ended.code).not.toBe(1);
});
