import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { fileOf } from "./batch/files.ts";
import { scratchFolder, soon } from "./support/helpers.ts";
import { built, ended, lenden, type Outcome, startBuilt } from "./support/lenden.ts";
import { inDatabase, refundOf, testAccount } from "./support/merchant.ts";
import { payeesOf } from "./support/payees.ts";
import { answering } from "./support/server.ts";

const account = testAccount();
const formats = ["table", "json", "ndjson", "csv"];
const key = "sk_sandbox_Can-aryKey123456-XYZ";
const secret = 'canary/Secret+with=odd&"chars%';

/** Each way in which a secret may stand somewhere; its random part's first eight characters too. */
function traces(text: string): string[] {
  const random = text.replace(/^(?:sk_sandbox_|public-)/, "");
  const bytes = Buffer.from(text);
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    random.slice(0, 8),
  ];
}

function found(text: string, secrets: string[]): string[] {
  return secrets.flatMap(traces).filter((trace) => text.includes(trace));
}

/** Every file below a folder but the one that is there to hold secrets. */
function filesIn(folder: string): { name: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "profiles.json")
    .map(({ parentPath, name }) => ({
      name,
      text: readOrNothing(join(parentPath, name)),
    }));
}

/** What seals the orders in a ledger: whoever reads one can test guesses of the payout secret. */
function sealsIn(file: string): Promise<string[]> {
  return inDatabase(file, (ledger) => {
    const sealed = ledger.prepare("SELECT seal FROM operations WHERE seal IS NOT NULL").all();
    return sealed.map(({ seal }) => String(seal));
  });
}

test("all commands together leave no trace of key and secret in outputs and files", async () => {
  const folder = scratchFolder();
  const { apiKey, payoutSecret, baseUrl } = account.sandbox();
  const env = { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
  const outcomes: Outcome[] = [];
  const run = async (line: string[], stdin?: string) => {
    const outcome = await lenden(line, {
      env,
      host: { sleep: soon },
      ...(stdin === undefined ? {} : { stdin }),
    });
    outcomes.push(outcome);
    return outcome;
  };
  const id = async (line: string[]) => (await run([...line, "-q", "-v"])).stdout.trim();
  const add = ["profile", "add", "shop", "--key-stdin", "--secret-stdin", "--base-url", baseUrl];
  await run(add, `${apiKey}\n${payoutSecret}\n`);
  const pay = ["pay", "create", "--amount", "500", "--description", "x", "--method", "bkash"];
  const send = "payout send --amount 5 --to 01712345678 --method bkash --ref A".split(" ");
  const payment = await id(pay);
  await id(["sandbox", "trigger", "payment", payment]);
  const payout = await id(send);
  const refundId = await id(refundOf(payment, "5"));
  const rows = fileOf("ref,amount,to,method\nROW-1,7,01712345679,bkash\n", "ROWS.csv");
  await run(["payout", "batch", "send", rows, "--yes", "-v", "--name", "ROWS"]);
  const lines = [
    ["methods"],
    ["pay", "get", payment],
    ["pay", "get", "TX0"],
    [...pay, "--dry-run"],
    ["payout", "get", payout],
    send,
    [...send, "--dry-run"],
    send.with(3, "6"),
    ["payout", "sign", "--amount", "5", "--ref", "A"],
    "payout verify --amount 5 --ref A --timestamp 1763614800 --signature x".split(" "),
    ["refund", "get", refundId],
    ["refund", "cancel", refundId, "--dry-run"],
    ["sandbox", "info"],
    ["sandbox", "requests"],
    ["api", "GET", "/payment/methods", "--include"],
    ["api", "POST", "/payout/create-by-server", "-f", "amount=5"],
    ["payout", "list"],
    ["payout", "batch", "status", "ROWS"],
    ["payout", "batch", "list"],
    ["payout", "batch", "export", "ROWS"],
    ["ledger", "show", "A"],
    ["ledger", "show", "ROW-1"],
    ["ledger", "list"],
    ["ledger", "list", "--unknown"],
    ["ledger", "export"],
    ["ledger", "audit"],
    ["ledger", "check"],
    ["ledger", "resolve", "UNKNOWN"],
    ["report"],
    ["profile", "list"],
    ["profile", "show"],
    ["profile", "set", "method", "nagad"],
    ["nonsense", apiKey],
    ["methods", `--api-kye=${apiKey}`],
    ["pay", "get", "TX1", "--base-url", "http://elsewhere.example"],
    ["pay", "get", "TX1", "--base-url", "http://127.0.0.1:1"],
  ];
  for (const line of lines)
    for (const format of ["table", "json"]) await run([...line, "-v", "-o", format]);
  await run(["refund", "cancel", refundId, "-v"]);
  expect(outcomes.length).toBeGreaterThan(50);
  const seals = await sealsIn(join(folder, "data", "ledger.db"));
  expect(seals.length).toBeGreaterThan(1);
  for (const { stdout, stderr } of outcomes) {
    expect(found(stdout + stderr, [apiKey, payoutSecret, ...seals])).toEqual([]);
  }
  const files = filesIn(folder);
  // The write-ahead log of a closed ledger stays until libsql is collected; node:sqlite removes it.
  const lasting = files.filter(({ name }) => !/^ledger\.db-(?:shm|wal)$/.test(name));
  expect(lasting.map(({ name }) => name)).toEqual([
    ".profiles.lock",
    expect.stringMatching(/^ledger-head-\w+\.json$/),
    "ledger.db",
    expect.stringMatching(/^methods-\w+\.json$/),
  ]);
  for (const { name, text } of files)
    expect(found(name + text, [apiKey, payoutSecret])).toEqual([]);
});

describe("a response that contains the API key", () => {
  const everywhere = [
    key,
    encodeURIComponent(key),
    Buffer.from(key).toString("base64"),
    Buffer.from(key).toString("hex"),
  ];
  const answers: [string, { status?: number; type?: string; body: string }][] = [
    [
      "in an error's message",
      { status: 401, body: JSON.stringify({ message: `bad: ${everywhere}` }) },
    ],
    ["in an error's code", { status: 400, body: JSON.stringify({ code: key, error: [key] }) }],
    ["in a page", { status: 502, type: "text/html", body: `<title>${key}</title>${everywhere}` }],
    ["in a refusal", { body: JSON.stringify({ success: false, message: key }) }],
    ["as plain text", { body: everywhere.join("\n") }],
    [
      "in a record",
      {
        body: JSON.stringify({
          success: true,
          data: {
            transactionId: key,
            amount: 5,
            status: key,
            description: everywhere.join(" "),
            more: { [key]: 1 },
          },
        }),
      },
    ],
  ];

  test.each(answers)("shows it masked %s, in every format and in --verbose", async (_, reply) => {
    const { baseUrl } = await answering(() => reply);
    const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: key, LENDEN_PAYOUT_SECRET: secret };
    const lines = [
      ["pay", "get", "TX1"],
      ["api", "GET", "/x", "--include"],
      ["api", "POST", "/payout/create-by-server", "-f", "amount=5"],
    ];
    for (const line of lines) {
      for (const more of [["-o", "json"], ["-o", "csv"], ["-v"], ["-q"]]) {
        const { stdout, stderr } = await lenden([...line, ...more], { env, host: { sleep: soon } });
        expect([line, more, found(stdout + stderr, [key, secret])]).toEqual([line, more, []]);
      }
    }
    const { stderr } = await lenden(["pay", "get", "TX1"], {
      env: { ...env, LENDEN_DEBUG: "1" },
      host: { sleep: soon },
    });
    expect(found(stderr, [key, secret])).toEqual([]);
  });

  test.each([
    ["a message that is cut at 300 characters", ["pay", "get", "TX1"], "x".repeat(280)],
    ["a trace that is cut at 4096 bytes", ["pay", "get", "TX1", "-v"], "x".repeat(4096 - 12 - 22)],
  ])("shows no part of it in %s", async (_, line, before) => {
    const { baseUrl } = await answering(() => ({
      status: 400,
      body: JSON.stringify({ message: `${before}${key}` }),
    }));
    const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: key };
    const { stderr } = await lenden(line, { env });
    expect(stderr).toContain("xxx");
    expect(found(stderr, [key])).toEqual([]);
  });

  test.each(["\u00ad", "\u200b", "\u0007"])(
    "shows it masked if %j is inside, which is removed",
    async (invisible) => {
      const spoiled = `${key.slice(0, 15)}${invisible}${key.slice(15)}`;
      const { baseUrl } = await answering(() => ({
        status: 400,
        body: `{"message":"${spoiled}"}`,
      }));
      const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: key };
      for (const more of [[], ["-v"]]) {
        const { stdout, stderr } = await lenden(["pay", "get", "TX1", ...more], { env });
        expect([more, (stdout + stderr).includes(key)]).toEqual([more, false]);
      }
    },
  );
});

test("neither the process list nor the arguments of --key-command contain a secret", async () => {
  const folder = scratchFolder();
  const seen = join(folder, "seen.txt");
  const keyFile = join(folder, "key");
  const script = join(folder, "pass");
  writeFileSync(keyFile, `${account.sandbox().apiKey}\n`);
  writeFileSync(
    script,
    `#!/bin/sh
     for one in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <"$one" >>"${seen}" 2>/dev/null; echo >>"${seen}"; done
     cat "${keyFile}"`,
    { mode: 0o755 },
  );
  const env = {
    LENDEN_CONFIG_DIR: join(folder, "config"),
    LENDEN_BASE_URL: account.sandbox().baseUrl,
    LENDEN_PAYOUT_SECRET: secret,
  };
  const add = await built(["profile", "add", "shop", "--key-command", script, "-v"], { env });
  expect(add.code).toBe(0);
  const info = await built(["sandbox", "info", "--profile", "shop", "-v"], { env });
  expect({
    code: info.code,
    leaks: found(info.stdout + info.stderr, [account.sandbox().apiKey]),
  }).toEqual({
    code: 0,
    leaks: [],
  });
  const processes = readFileSync(seen, "utf8");
  expect(processes).toContain(basename(script));
  expect(found(processes, [account.sandbox().apiKey, secret])).toEqual([]);
});

describe("a secret with special characters", () => {
  let outputs = "";

  beforeAll(async () => {
    const env = {
      LENDEN_API_KEY: key,
      LENDEN_PAYOUT_SECRET: secret,
      LENDEN_BASE_URL: "http://127.0.0.1:1",
    };
    const send = "payout send --amount 5 --to 01712345678 --method-id M --ref A".split(" ");
    for (const line of [
      [...send, "--dry-run", "-v"],
      [...send, "--json", "-v", "--timeout", "1s"],
      [...send.with(-1, secret)],
      ["payout", "sign", "--amount", "5", "--ref", "A", "--json"],
      [
        "payout",
        "verify",
        "--amount=5",
        "--ref=A",
        "--timestamp=1763614800",
        "--signature",
        secret,
      ],
      ["profile", "show"],
      ["pay", "get", secret],
      ["pay", "get", key],
    ]) {
      for (const debug of [undefined, "1"]) {
        const { stdout, stderr } = await lenden(line, {
          env: { ...env, LENDEN_DEBUG: debug },
          host: { sleep: soon },
        });
        outputs += stdout + stderr;
      }
    }
  });

  test("is not shown", () => {
    expect(outputs).toContain("…");
    expect(found(outputs, [key, secret])).toEqual([]);
  });
});

test("a batch leaves no trace of key and secret in outputs, ledger, files and process list", async () => {
  const folder = scratchFolder();
  const echo = [key, secret].flatMap((text) => [
    text,
    encodeURIComponent(text),
    Buffer.from(text).toString("base64"),
    Buffer.from(text).toString("hex"),
  ]);
  let count = 0;
  const { baseUrl } = await answering((request, body) => {
    if (request.method === "GET")
      return [{ id: "M1", codeName: "bkash", providerName: "bKash", status: "ACTIVE" }];
    count += 1;
    const { merchantRef, amount } = JSON.parse(body);
    const said = JSON.stringify({ success: false, message: `${echo}`, code: key });
    if (count === 1) return { status: 503, body: said };
    if (count % 3 === 0) return { status: 422, body: said };
    const createdAt = new Date().toISOString();
    return { payoutId: `PO${count}`, merchantRef, amount, status: "Processing", createdAt };
  });
  const env = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: secret,
    LENDEN_CONFIG_DIR: folder,
    TMPDIR: folder,
    LENDEN_DEBUG: "1",
  };
  const file = payeesOf("CANARY", 6).file;
  const batch = (...line: string[]) => ["payout", "batch", ...line];
  const sending = startBuilt([...batch("send", file), "-v", "--method-id", "M1"], env);
  const seen: string[] = [];
  const looking = setInterval(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      seen.push(readOrNothing(`/proc/${pid}/cmdline`));
    for (const { name, text } of filesIn(folder)) seen.push(name, text);
  }, 150);
  const outputs = [JSON.stringify(await ended(sending))];
  clearInterval(looking);
  outputs.push(JSON.stringify(await built([...batch("send", file), "-v"], { env })));
  for (const line of [batch("check", file), batch("list")])
    outputs.push(JSON.stringify(await lenden([...line, "-v"], { env })));
  for (const format of formats)
    for (const line of [batch("status", file), batch("export", file), batch("list")])
      outputs.push(JSON.stringify(await lenden([...line, "-o", format], { env })));
  expect(outputs[0]).toContain("CANARY");
  expect(count).toBeGreaterThan(6);
  for (const output of outputs)
    expect([found(output, [key, secret]), output]).toEqual([[], output]);
  for (const { name, text } of filesIn(folder)) seen.push(name, text);
  expect(found(seen.join("\n"), [key, secret])).toEqual([]);
});

test("a response that contains the signature of its request is stored without it, after 270 other signatures", async () => {
  const folder = scratchFolder();
  const signatures: string[] = [];
  let answered = 0;
  const { baseUrl } = await answering(async (request, body) => {
    if (request.method === "GET")
      return [{ id: "M1", codeName: "bkash", providerName: "bKash", status: "ACTIVE" }];
    const signature = String(request.headers["x-payout-signature"]);
    signatures.push(signature);
    const { merchantRef, amount } = JSON.parse(body);
    if (merchantRef === "SLOW-1") {
      while (answered < 270) await new Promise((resolve) => setTimeout(resolve, 20));
      const message = `${signature} does not fit, ${encodeURIComponent(signature)}`;
      const said = JSON.stringify({ success: false, message, code: signature });
      return { status: 422, headers: { "x-signed": btoa(signature) }, body: said };
    }
    answered += 1;
    const createdAt = new Date().toISOString();
    return { payoutId: `PO${answered}`, merchantRef, amount, status: "Processing", createdAt };
  });
  const env = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: secret,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: folder,
  };
  const { file } = payeesOf("SLOW", 300);
  const send = ["payout", "batch", "send", file, "--method-id", "M1", "--concurrency", "32", "-v"];
  const sent = await built(send, { env });
  expect(sent).toMatchObject({ code: 6, stderr: expect.stringContaining("does not fit") });
  const kept = [sent.stdout, sent.stderr, ...filesIn(folder).map(({ text }) => text)].join("\n");
  expect(kept).toContain("does not fit");
  expect(signatures.length).toBe(300);
  const echoes = signatures.flatMap((signature) => [signature, btoa(signature).replace(/=+$/, "")]);
  expect(echoes.filter((echo) => kept.includes(echo))).toEqual([]);
});

test("a payout whose ID is the API key is stored, and completed by Tab, without the key", async () => {
  const folder = scratchFolder();
  const record = { payoutId: key, status: "Processing", recipientNumber: "01712345678" };
  const { baseUrl } = await answering(async () => ({
    ...record,
    amount: 5,
    merchantRef: "KEY-1",
    createdAt: new Date().toISOString(),
  }));
  const env = {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: secret,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: folder,
  };
  const what = ["--amount", "5", "--to", "01712345678", "--method-id", "M1", "--ref", "KEY-1"];
  const sent = await lenden(["payout", "send", ...what], { env });
  expect(sent.code).toBe(0);
  const tab = await lenden(["__complete", "--typed=", "payout", "get"], { env });
  const kept = [sent.stdout, sent.stderr, tab.stdout, ...filesIn(folder).map(({ text }) => text)];
  expect(kept.join("\n")).toContain("KEY-1");
  expect(found(kept.join("\n"), [key, secret])).toEqual([]);
});

test.each([
  ["an amount", ["payout", "send", "--amount", secret, "--to", "01712345678", "--method", "bkash"]],
  ["a file", ["payout", "batch", "check", `/nowhere/${secret}`]],
  ["an ID", ["pay", "get", `${key}/`]],
])("a secret that is typed as %s is masked in the error", async (_, line) => {
  const env = { LENDEN_API_KEY: key, LENDEN_PAYOUT_SECRET: secret };
  const { code, stderr } = await lenden(line, { env });
  expect([code, found(stderr, [key, secret])]).toEqual([2, []]);
  expect(stderr).toMatch(/^error: ./);
});

/** A process may be gone before it is looked at, and with it a file of its own. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

test("a long secret that is typed as a value is not printed in part", async () => {
  const long = `canary-${"Secret+with=odd".repeat(5)}`;
  const env = { ...account.env(), LENDEN_PAYOUT_SECRET: long };
  const file = join(scratchFolder(), "secret.csv");
  writeFileSync(file, `ref,amount,to,method\n${long},${long},${long},bkash\n`);
  const send = ["payout", "send", "--amount", long, "--to", long, "--ref", long];
  const check = ["payout", "batch", "check", file];
  for (const line of [send, check, [...send, "--json"], [...check, "--json"]]) {
    const { code, stdout, stderr } = await lenden(line, { env });
    expect(code, line.join(" ")).toBe(2);
    expect(stdout + stderr).not.toContain(long.slice(0, 20));
  }
});

test("a base URL with a key in its query is not printed", async () => {
  const env = { ...account.env(), LENDEN_BASE_URL: `https://pay.example/?key=${key}` };
  const { code, stdout, stderr } = await lenden(["methods"], { env });
  expect([code, found(stdout + stderr, [key])]).toEqual([2, []]);
});
