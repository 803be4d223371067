import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { formatDay } from "../../src/domain/local-time.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, jumpingHost, lenden } from "../support/lenden.ts";
import { openMerchant, testAccount } from "../support/merchant.ts";

const account = testAccount();
const header = "ref,amount,to,method,name";
const people = ["01712345678", "01812345678", "01912345678"];

/** A file of its own, whose references begin with its name. */
function payroll(name: string, amounts = ["500", "1250.50", "0.01"]): string {
  const file = join(scratchFolder(), `${name}.csv`);
  const rows = amounts.map(
    (amount, index) => `${name}-${index},${amount},${people[index % 3]},bkash,Person ${index}`,
  );
  writeFileSync(file, [header, ...rows, ""].join("\n"));
  return file;
}

/** Each test has its own ledger, so that there is no earlier payout. */
function batch(line: string[], data: string = scratchFolder()) {
  return account.run(["payout", "batch", ...line], { env: { LENDEN_DATA_DIR: data } });
}

/** Plans a file as a batch of which nothing is sent, because the API does not know the secret. */
async function planAlone(file: string, data: string, ...flags: string[]): Promise<string> {
  const env = { LENDEN_DATA_DIR: data, LENDEN_PAYOUT_SECRET: "another-secret" };
  const line = ["payout", "batch", "send", file, "--concurrency", "1", ...flags];
  expect((await account.run(line, { env })).code).toBe(4);
  return file;
}

const sent = async () => (await account.asked()).filter((one) => one.includes("create-by-server"));

test("shows a summary, sends each row once, and shows the sums", async () => {
  const before = (await sent()).length;
  const [file, data] = [payroll("FIRST"), scratchFolder()];
  const { code, stderr } = await batch(["send", file], data);
  expect(code).toBe(0);
  const { stdout } = await batch(["status", file, "--json"], data);
  expect(JSON.parse(stdout)).toMatchObject({
    name: "FIRST.csv",
    rows: 3,
    total: "1750.51",
    states: { processing: { rows: 3, total: "1750.51" }, unsent: { rows: 0, total: "0" } },
  });
  expect(stderr).toContain("Send a batch of payouts — sandbox:");
  expect(stderr).toContain("Total: 3 rows, BDT 1,750.51");
  expect(stderr).toContain("Largest: line 3: BDT 1,250.50 to 01812345678 (Person 1)");
  expect(stderr).toContain("3 of 3 rows · BDT 1,750.51 of BDT 1,750.51");
  expect((await sent()).length - before).toBe(3);
});

test("other rows under the name of an unfinished batch are rejected, and sent with another name", async () => {
  const data = scratchFolder();
  await planAlone(payroll("SAME"), data);
  const other = payroll("SAME", ["500", "1250.50", "7", "8"]);
  writeFileSync(other, readFileSync(other, "utf8").replaceAll("SAME-", "OTHER-"));
  const refused = await batch(["send", other, "--allow-duplicates"], data);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("SAME.csv differs from the file of batch");
  const [is, was] = ["7.00", "0.01"].map((amount) => `${amount} to 01912345678 by bkash`);
  expect(refused.stderr).toContain(`line 4: in the file, but not in the batch: OTHER-2, ${is}`);
  expect(refused.stderr).toContain(`in the batch, but not in the file: SAME-2, ${was}`);
  const corrected = await batch(
    ["send", payroll("SAME", ["500", "1250.50", "7"]), "--allow-duplicates"],
    data,
  );
  expect(corrected.stderr).toContain(`line 4: the file has ${is}, the batch has ${was}`);
  const renamed = payroll("SAME");
  writeFileSync(renamed, readFileSync(renamed, "utf8").replace("Person 1", "New Name"));
  expect(await batch(["send", renamed], data)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining(
      "line 3: the file has name New Name, the batch has name Person 1",
    ),
  });
  const second = [other, "--name", "second", "--allow-duplicates"];
  expect((await batch(["check", other, "--allow-duplicates"], data)).code).toBe(5);
  for (const verb of ["check", "send"]) expect((await batch([verb, ...second], data)).code).toBe(0);
});

test("rejects a file with the API key or payout secret, and neither shows nor stores it", async () => {
  const data = scratchFolder();
  const file = join(scratchFolder(), "leak.csv");
  const secret = "a-payout-secret-of-mine";
  writeFileSync(
    file,
    `${header}\nLEAK-1,5,01712345678,bkash,Rahim\nLEAK-2,6,01712345678,bkash,x ${secret}\n`,
  );
  const env = { LENDEN_DATA_DIR: data, LENDEN_PAYOUT_SECRET: secret };
  for (const command of ["check", "send"]) {
    const line = ["payout", "batch", command, file];
    const { code, stdout, stderr } = await account.run(line, { env });
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining("Remove it.")]);
    expect(stdout + stderr).not.toContain(secret);
  }
  expect(readFileSync(join(data, "ledger.db")).includes(secret)).toBe(false);
});

test("rejects a changed file whose batch had its own name, until it gets another name", async () => {
  const data = scratchFolder();
  const file = join(scratchFolder(), "payroll.csv");
  const write = (amount: string) =>
    writeFileSync(file, `amount,to,method\n10,01712345678,bkash\n${amount},01812345678,bkash\n`);
  write("20");
  await planAlone(file, data, "--name", "October");
  const before = (await sent()).length;
  write("21"); // without references, every row of it would be a new payout
  const refused = await batch(["send", file, "--allow-duplicates"], data);
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringMatching(
      /payroll\.csv differs .* \(October\), .* not finished\. Nothing was sent\.\n.*line 3: the file has 21\.00 to .*, the batch has 20\.00 to [\s\S]*It pays all rows again/,
    ),
  ]);
  expect(await sent()).toHaveLength(before);
  const status = async () => (await batch(["status", "payroll.csv", "--json"], data)).stdout;
  expect(await status()).toContain('"October"');
  const named = ["send", file, "--name", "November", "--allow-duplicates"];
  expect((await batch(named, data)).code).toBe(0);
  expect(await status()).toContain('"November"');
});

test("creates one batch if two files of the same name are planned at once", async () => {
  const data = scratchFolder();
  const [one, other] = [payroll("TWINS"), payroll("TWINS", ["7", "8"])];
  const ends = await Promise.all(
    [one, other].map((file) => batch(["send", file, "--allow-duplicates"], data)),
  );
  expect(ends.map(({ code }) => code).sort()).toEqual([0, 5]);
  expect(JSON.parse((await batch(["list", "--json"], data)).stdout)).toHaveLength(1);
});

/** The same rows, as a spreadsheet writes them. */
function savedAnew(file: string): string {
  const copy = join(scratchFolder(), basename(file));
  writeFileSync(copy, readFileSync(file, "utf8").replaceAll("\n", "\r\n"));
  return copy;
}

test("check and --dry-run name the batch of a file, and a batch that has its name", async () => {
  const data = scratchFolder();
  const file = payroll("KNOWN");
  const id = (await batch(["send", file, "-q"], data)).stdout.trim();
  await planAlone(payroll("OPEN", ["8"]), data);
  const other = payroll("OPEN", ["9"]);
  writeFileSync(other, readFileSync(other, "utf8").replaceAll("OPEN-", "NEW-"));
  for (const line of [["check"], ["send", "--dry-run"]]) {
    for (const own of [file, savedAnew(file)]) {
      const { code, stdout, stderr } = await batch([...line, own], data);
      const says = `This file is batch ${id}: no row is left to send.`;
      expect([code, stderr]).toEqual([0, expect.stringContaining(says)]);
      if (line[0] === "check") expect(stdout).toContain("Batch file");
      expect(stdout).not.toContain("To be sent now");
    }
    const changed = await batch([...line, other], data);
    expect(changed.code).toBe(5);
    expect(changed.stderr).toMatch(/OPEN\.csv differs from the file of batch [\s\S]*add --name/);
  }
});

test.each(["status", "export", "cancel"])(
  "%s of a file with other rows than the batch of its name is rejected, and names the batch",
  async (command) => {
    const data = scratchFolder();
    const file = payroll("MONTH");
    const id = (await batch(["send", file, "-q"], data)).stdout.trim();
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("MONTH-", "NEXT-"));
    for (const path of [file, savedAnew(file)]) {
      const { code, stdout, stderr } = await batch([command, path], data);
      expect([code, stdout, stderr]).toEqual([
        5,
        "",
        expect.stringContaining(`Use the ID of the batch instead of the file: ${id}`),
      ]);
    }
    const code = command === "cancel" ? 3 : 0; // nothing is left to cancel
    for (const name of [id, "MONTH.csv"])
      expect((await batch([command, name], data)).code).toBe(code);
  },
);

test("rows that another open batch repeats are found, and on resuming who was paid meanwhile", async () => {
  const data = scratchFolder();
  const waiting = await planAlone(payroll("WAITING"), data);
  const same = payroll("SAMEPEOPLE", ["500", "7"]);
  const before = (await sent()).length;
  const refused = await batch(["send", same], data);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /line 2, to .*Batch B\w{6} will send the same amount to this recipient \(WAITING-0\)\./,
  );
  expect(refused.stderr).not.toContain("line 3");
  const allowed = await batch(["send", same, "--allow-duplicates"], data);
  expect(allowed.stderr).toContain("Duplicates: 1 row, BDT 500.00, allowed");
  const resumed = await batch(["send", waiting], data);
  expect(resumed.code).toBe(2);
  expect(resumed.stderr).toMatch(/Unsent rows of batch B\w+ repeat payouts that were sent/);
  expect(resumed.stderr).toMatch(
    /line 2: A payout of the same amount .* was accepted .*\(SAMEPEOPLE-0\)\./,
  );
  expect((await sent()).length - before).toBe(2);
  const meant = await batch(["send", waiting, "--allow-duplicates"], data);
  expect([meant.code, meant.stderr]).toEqual([
    0,
    expect.stringMatching(/Duplicates: 1 row, BDT 500\.00, allowed[\s\S]*\(SAMEPEOPLE-0\)\./),
  ]);
  expect((await sent()).length - before).toBe(5);
});

test.each([
  [["--expect-total", "1750.50"], "--expect-total: the total is BDT 1,750.51, not BDT 1,750.50."],
  [["--expect-count", "4"], "--expect-count: the file has 3 rows, not 4."],
])("sends nothing if %j differs from the file", async (flags, says) => {
  const before = (await sent()).length;
  const { code, stderr } = await batch(["send", payroll("EXPECT"), ...flags]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  const asJson = await batch(["send", payroll("EXPECT"), ...flags, "--json"]);
  expect(errorOf(asJson)).toMatchObject({
    kind: "usage",
    reason: "batch.expectation-differs",
    effect: "nothing-sent",
  });
  expect(await sent()).toHaveLength(before);
});

test("rejects another --method when a batch is resumed", async () => {
  const data = scratchFolder();
  const file = join(scratchFolder(), "plain.csv");
  writeFileSync(file, "amount,to\n5,01712345678\n");
  expect((await batch(["send", file, "--method", "bkash"], data)).code).toBe(0);
  const { code, stderr } = await batch(["send", file, "--method", "nagad"], data);
  expect([code, stderr]).toEqual([2, expect.stringContaining("created with bkash")]);
  expect(await batch(["send", file, "--method", "bKash"], data)).toMatchObject({ code: 0 });
  expect(await batch(["check", file], data)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("no row is left to send"),
  });
});

test("a batch is found by its file, its id, its name and @last; an unknown one is an error", async () => {
  const [file, data] = [payroll("FIND"), scratchFolder()];
  const id = (await batch(["send", file, "-q"], data)).stdout.trim();
  expect(id).toMatch(/^B[0-9A-Z]{6}$/);
  for (const name of [file, id, id.toLowerCase(), "FIND.csv", "@last"]) {
    const { code, stdout } = await batch(["status", name, "-q"], data);
    expect([code, stdout.trim()]).toEqual([0, id]);
  }
  expect((await batch(["list", "-q"], data)).stdout.trim()).toBe(id);
  for (const unknown of ["B000000", "@2"])
    expect(await batch(["status", unknown], data)).toMatchObject({ code: 9 });
});

test("waits until each row is Completed or Cancelled, and reports cancelled rows", async () => {
  const [file, data] = [payroll("WAIT"), scratchFolder()];
  expect((await batch(["send", file], data)).code).toBe(0);
  const ids = (await batch(["export", file, "-o", "ndjson"], data)).stdout
    .trim()
    .split("\n")
    .map((line) => String(JSON.parse(line).payoutId));
  const end = (id: string | undefined, status: string) =>
    account.run(["sandbox", "set", "payout", id ?? "", status]);
  await end(ids[0], "Completed");
  await end(ids[1], "Cancelled");
  const short = ["--wait", "--wait-timeout", "100ms", "--interval", "20ms"];
  const pending = await batch(["status", file, ...short], data);
  expect([pending.code, pending.stderr]).toEqual([
    8,
    expect.stringMatching(/hint: .*'lenden payout batch status B\w+ --wait'\./),
  ]);
  await end(ids[2], "Completed");
  const { code, stdout } = await batch(["status", file, "--wait", "--json"], data);
  expect(code).toBe(6);
  expect(JSON.parse(stdout).states).toMatchObject({
    completed: { rows: 2, total: "500.01" },
    cancelled: { rows: 1, total: "1250.5" },
    processing: { rows: 0, total: "0" },
  });
});

test("a template can be checked and sent as it is, and an existing file is left alone", async () => {
  const file = join(scratchFolder(), "new.csv");
  const data = scratchFolder();
  expect((await batch(["template", file, "--method", "nagad"], data)).code).toBe(0);
  expect(readFileSync(file, "utf8")).toMatch(/^ref,amount,to,method,name,description\n.*,nagad,/);
  expect((await batch(["check", file], data)).code).toBe(0);
  expect((await batch(["template", file], data)).code).toBe(2);
  const onScreen = await batch(["template"], data);
  expect(onScreen.stdout.split("\n")).toHaveLength(5);
});

test("a production account requires --yes, the total and the count from a script", async () => {
  const file = payroll("REAL", ["5"]);
  const env = {
    LENDEN_DATA_DIR: scratchFolder(),
    LENDEN_BASE_URL: "https://127.0.0.1:9",
    LENDEN_API_KEY: "public-ABC-ABCDEFGHIJKL-XYZ",
  };
  const noMethod = join(scratchFolder(), "real.csv");
  writeFileSync(noMethod, readFileSync(file, "utf8").replace(",bkash,", ",,"));
  const run = (...flags: string[]) => {
    const line = ["payout", "batch", "send", noMethod, "--method-id", "M", ...flags];
    return account.run(line, { env, host: jumpingHost() });
  };
  const given = ["--expect-total", "5", "--expect-count", "1"];
  expect(await run()).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/real money[\s\S]*--yes and --expect-total and --expect-count/),
  });
  expect(await run("--yes")).toMatchObject({ code: 4 });
  expect(await run(...given)).toMatchObject({ code: 4 });
  expect(existsSync(join(env.LENDEN_DATA_DIR, "ledger.db"))).toBe(true);
  expect(await batchesIn(env)).toEqual([]);
  // Nothing listens there: it was confirmed, planned, and nothing could be sent.
  expect(await run("--yes", ...given, "--timeout", "30s")).toMatchObject({
    code: 69,
    stderr: expect.stringMatching(/Cannot connect to the API[\s\S]*To resume, run/),
  });
  expect(await batchesIn(env)).toHaveLength(1);
});

async function batchesIn(env: Record<string, string>): Promise<unknown> {
  return JSON.parse((await account.run(["payout", "batch", "list", "--json"], { env })).stdout);
}

test("does not send a modified plan, and ledger check names it", async () => {
  const [file, data] = [payroll("ALTERED"), scratchFolder()];
  const id = (await batch(["send", file, "-q"], data)).stdout.trim();
  const database = await openDatabase(join(data, "ledger.db"));
  database.exec("UPDATE batch_rows SET recipient = '01999999999' WHERE row = 2");
  database.close();
  const again = await batch(["send", file], data);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("was modified")]);
  const env = { LENDEN_DATA_DIR: data };
  const checked = await account.run(["ledger", "check", "--json"], { env });
  expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
    1,
    { modified: [{ name: id, columns: ["rows"] }] },
  ]);
});

test("rejects rows that do not add up to the plan", async () => {
  const [file, data] = [payroll("SUMS"), scratchFolder()];
  await batch(["send", file], data);
  const database = await openDatabase(join(data, "ledger.db"));
  database.exec("UPDATE batch_rows SET amount_paisa = amount_paisa + 1 WHERE row = 3");
  database.close();
  const { code, stdout, stderr } = await batch(["status", file], data);
  expect([code, stdout, stderr]).toEqual([
    1,
    "",
    expect.stringContaining("do not match its recorded total"),
  ]);
});

test("reports rows that were paid before, and does not count them as sent now", async () => {
  const data = scratchFolder();
  await batch(["send", payroll("NOVEMBER")], data);
  const copy = join(scratchFolder(), "december.csv");
  const rows = readFileSync(payroll("NOVEMBER"), "utf8").replaceAll("Person", "New Name");
  writeFileSync(copy, `${rows}DEC-1,100,01612345678,bkash,New\n`);
  const sentBefore = { rows: 3, total: "1750.51" };
  const checked = await batch(["check", copy, "--json"], data);
  expect(JSON.parse(checked.stdout)).toMatchObject({ rows: 4, sentBefore });
  const before = (await sent()).length;
  const { stderr } = await batch(["send", copy], data);
  expect(stderr).toContain("Already existed: 3 of 4 rows, BDT 1,750.51 (lines 2-4)");
  expect(stderr).toContain("To be sent now: 1 row, BDT 100.00");
  const { stdout } = await batch(["status", copy, "--json"], data);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 4, sentBefore });
  expect((await sent()).length - before).toBe(1);
});

test("export prints one JSON document, also without rows", async () => {
  const [file, data] = [payroll("ARRAY"), scratchFolder()];
  await batch(["send", file], data);
  const all = JSON.parse((await batch(["export", file, "--json"], data)).stdout);
  expect(all).toHaveLength(3);
  const none = await batch(["export", file, "--only", "refused", "--json"], data);
  expect([JSON.parse(none.stdout), none.stderr]).toEqual([[], ""]);
  const said = await batch(["export", file, "--only", "refused"], data);
  expect(said.stderr).toMatch(/^Batch B\w{6} has no rows with status Rejected\.$/m);
  const failed = await batch(["export", file, "--only", "failed"], data);
  expect([failed.code, failed.stderr]).toEqual([
    0,
    expect.stringContaining("that can be sent again."),
  ]);
});

test("export --only failed warns about rows whose outcome is unknown", async () => {
  const merchant = await openMerchant({ faults: faults("createPayout:lost-reply") });
  const file = fileOf("ref,amount,to,method\nLOST-1,5,01712345678,bkash\n");
  await merchant.lenden(["payout", "batch", "send", file, "--yes", "--timeout", "3s"]);
  const failed = await merchant.lenden(["payout", "batch", "export", file, "--only", "failed"]);
  expect(failed.stdout).toContain("LOST-1");
  expect(failed.stderr).toContain("The outcome of 1 row is unknown: do not change");
});

test("shows when a file was sent a month ago, sends nothing, and counts failed rows", async () => {
  const merchant = await openMerchant();
  const file = fileOf("ref,amount,to,method\nR-1,5,01712345671,bkash\nR-2,5,01712345672,bkash\n");
  const send = ["payout", "batch", "send", file];
  expect(await merchant.lenden(send)).toMatchObject({ code: 0 });
  const day = formatDay(new Date().toISOString());
  const first = `payroll.csv, is left to send (sent on ${day}). Nothing was sent.`;
  const aMonthLater = { now: () => Date.now() + 30 * 86_400_000 };

  const second = await merchant.lenden(send, { host: aMonthLater });

  expect(second.code).toBe(0);
  expect(second.stderr).toContain(
    `${first} To pay the same rows again for a new period, use --name and new`,
  );
  expect(await merchant.moneyRequests()).toHaveLength(2);
  const [payout] = await merchant.books("payouts");
  await merchant.set("payout", String(payout?.id), "Cancelled");
  await merchant.lenden(["payout", "batch", "status", "@last", "--refresh"]);
  const third = await merchant.lenden(send);
  expect(third.code).toBe(6);
  expect(third.stderr).toContain(`${first}\n`);
  expect(third.stderr).toContain(", of which 1 cancelled.");
});

test.each([
  ["with references", "ref,amount,to,method", ["A,5,01712345678,bkash", "B,6,01812345678,nagad"]],
  ["without references", "amount,to", ["5,01712345678", "6,01812345678"]],
])(
  "status and export find the batch of a file %s by its rows, without a key",
  async (_, header, rows) => {
    const merchant = await openMerchant();
    const file = fileOf([header, ...rows, ""].join("\n"));
    const method = header.includes("method") ? [] : ["--method", "bkash"];
    const batch = await merchant.id(["payout", "batch", "send", file, ...method]);
    const reordered = fileOf([header, ...rows.toReversed()].join("\r\n").replace(",5,", ",5.00,"));
    const env = { ...merchant.env, LENDEN_API_KEY: "", LENDEN_PAYOUT_SECRET: "" };

    const status = await lenden(["payout", "batch", "status", reordered, "--json"], { env });
    const exported = await merchant.lenden(["payout", "batch", "export", reordered]);

    const resumed = await merchant.lenden(["payout", "batch", "send", reordered, ...method]);

    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining(batch) });
    expect(await merchant.books("payouts")).toHaveLength(2);
    expect(JSON.parse(status.stdout)).toMatchObject({ batch, rows: 2 });
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining("01812345678") });
  },
);
