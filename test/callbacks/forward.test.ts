import { spawn, spawnSync } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { openTransport } from "../../src/api/transport.ts";
import { forward } from "../../src/callbacks/forward.ts";
import type { StoredCallback } from "../../src/ledger/callback.ts";
import { collectGarbage, scratchFolder, until } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { type Merchant, openMerchant, paidPayment } from "../support/merchant.ts";
import { closedPort, listen } from "../support/server.ts";
import { type Handled, listenAs, startHandler } from "./listening.ts";
import { smallListener } from "./small-listener.ts";

const callback: StoredCallback = {
  number: 1,
  source: "received",
  receivedAt: "2026-11-20T06:00:00.000Z",
  count: 1,
  method: "POST",
  target: "/hook?a=b%20c",
  headers: { "content-type": "application/json" },
  body: Buffer.from('{"transactionId":"TX1"}'),
  judged: null,
  checks: 0,
  dueAt: null,
  forwarded: null,
  isKnown: true,
};
const record = { status: "Completed", amount: 1250.5 };
const transport = openTransport({ http: undefined, https: undefined, none: undefined });
const options = {
  secret: "s3cret ৳",
  checked: { verdict: "verified", retrieved: { kind: "payment", id: "TX1", record } },
  transport,
  timeoutMs: 400,
  now: Date.now,
  stopping: new AbortController().signal,
} as const;

test("signs time, method, path, headers and body, in this order", async () => {
  const { url, handled } = await startHandler();
  const before = Math.floor(Date.now() / 1000);
  const sent = await forward(callback, { ...options, url: `${url}?shop=1` });
  expect(sent).toEqual({ status: 200, fault: null });
  const [got] = handled;
  const [, t = "", v1] =
    /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(got?.headers["x-lenden-signature"])) ?? [];
  const digest = createHash("sha256").update(callback.body).digest("hex");
  const lines = [t, "POST", "/own?shop=1&a=b%20c", "true", "TX1", "Completed", "1250.5", digest];
  expect(got?.path).toBe(lines[2]);
  expect(v1).toBe(createHmac("sha256", options.secret).update(lines.join("\n")).digest("hex"));
  expect(Number(t)).toBeGreaterThanOrEqual(before);
  expect(got?.headers).toMatchObject({ "x-lenden-amount": "1250.5", "x-lenden-callback": "1" });
});

test("without a record, its headers are absent and their lines are empty", async () => {
  const { url, handled } = await startHandler();
  const checked = { verdict: "unchecked", retrieved: undefined } as const;
  const bytes = { ...callback, method: "GET", target: "/", headers: {}, body: Buffer.of() };
  await forward(bytes, { ...options, checked, url });
  const headers = handled[0]?.headers ?? {};
  const [, t, v1] = /^t=(\d+),v1=(\w+)$/.exec(String(headers["x-lenden-signature"])) ?? [];
  const digest = createHash("sha256").update("").digest("hex");
  const lines = [t, "GET", "/own", "unknown", "", "", "", digest];
  expect(v1).toBe(createHmac("sha256", options.secret).update(lines.join("\n")).digest("hex"));
  expect(Object.keys(headers).filter((name) => /-(?:id|status|amount)$/.test(name))).toEqual([]);
});

test("the profile stores the secret, and LENDEN_CALLBACK_SECRET or a file override it", async () => {
  const merchant = await openMerchant();
  const folder = merchant.env.LENDEN_CONFIG_DIR ?? "";
  writeFileSync(join(folder, "key"), merchant.apiKey);
  writeFileSync(join(folder, "secret"), "from a file\n");
  const add = ["profile", "add", "shop", "--base-url", merchant.baseUrl, "--key-file"];
  expect((await merchant.lenden([...add, join(folder, "key")])).code).toBe(0);
  const { url, handled } = await startHandler();
  const secretOf = async (env: Record<string, string>, ...flags: string[]) => {
    const own = withEnv(merchant, { LENDEN_PROFILE: "shop", ...env });
    const listener = await listenAs(own, "--forward-to", url, ...flags);
    await listener.send(`{"transactionId":"TX${handled.length}"}`);
    listener.kill("SIGINT");
    await listener.ended;
    return listener.secret;
  };
  const generated = await secretOf({});
  expect(generated).toMatch(/^[\w-]{43}$/);
  expect(await secretOf({})).toBeUndefined();
  expect(await secretOf({ LENDEN_CALLBACK_SECRET: "from the environment" })).toBeUndefined();
  expect(await secretOf({}, "--secret-file", join(folder, "secret"))).toBeUndefined();
  const secrets = [generated, generated, "from the environment", "from a file"];
  expect(handled.map((one, index) => isSignedBy(secrets[index] ?? "", one))).toEqual(
    Array(4).fill(true),
  );
  // The secret itself is shown by no other command, and stays when the profile is replaced.
  await merchant.lenden([...add, join(folder, "key"), "--replace"]);
  for (const line of [["show", "shop"], ["list"]]) {
    const { stdout } = await merchant.lenden(["profile", ...line, "--json"]);
    expect(stdout).not.toContain(generated);
    expect(stdout).toContain("shop");
  }
  expect(await secretOf({})).toBeUndefined();
});

test("without a profile every run has the same secret, and prints it", async () => {
  const merchant = await openMerchant();
  const { url, handled } = await startHandler();
  const secrets: (string | undefined)[] = [];
  for (let run = 0; run < 2; run += 1) {
    const listener = await listenAs(merchant, "--forward-to", url);
    await listener.send(`{"transactionId":"TX${run}"}`);
    secrets.push(listener.secret);
    listener.kill("SIGINT");
    await listener.ended;
  }
  const replayed = await merchant.lenden(["callback", "replay", "1", "--forward-to", url]);
  expect([replayed.code, new Set(secrets).size]).toEqual([11, 1]);
  expect(handled.map((one) => isSignedBy(secrets[0] ?? "", one))).toEqual([true, true, true]);
});

/** The same merchant with further environment variables. */
function withEnv(merchant: Merchant, env: Record<string, string>): Merchant {
  const own = { ...merchant.env, ...env };
  return { ...merchant, lenden: (args, given = {}) => lenden(args, { ...given, env: own }) };
}

function isSignedBy(secret: string, { method, path, headers, body }: Handled): boolean {
  const header = (name: string) => String(headers[name] ?? "");
  const [, t, v1] = /^t=(\d+),v1=(\w+)$/.exec(header("x-lenden-signature")) ?? [];
  const names = ["x-lenden-verified", "x-lenden-id", "x-lenden-status", "x-lenden-amount"];
  const digest = createHash("sha256").update(body).digest("hex");
  const lines = [t, method, path, ...names.map(header), digest].join("\n");
  return v1 === createHmac("sha256", secret).update(lines).digest("hex");
}

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("the handlers of docs/callbacks.md", () => {
  const docs = readFileSync(resolve(import.meta.dirname, "../../docs/callbacks.md"), "utf8");
  const example = (language: string) =>
    new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(docs)?.[1] ?? "";

  test.for([
    ["Node", process.execPath, "js", "handler.mjs"],
    ["Python", "python3", "python", "handler.py"],
  ] as const)(
    "%s accepts what is signed, and nothing else",
    async ([name, program, language, file], { skip }) => {
      skip(name === "Python" && !hasPython && process.env.CI === undefined);
      const folder = scratchFolder();
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, file), example(language));
      const port = await closedPort();
      const env = {
        PATH: process.env.PATH,
        PORT: String(port),
        LENDEN_CALLBACK_SECRET: "own secret",
      };
      const child = spawn(program, [join(folder, file)], { env, stdio: "inherit" });
      onTestFinished(() => void child.kill("SIGKILL"));
      const url = `http://127.0.0.1:${port}/callback`;
      const direct = async (headers: Record<string, string>) =>
        (await fetch(`${url}?shop=1`, { method: "POST", headers, body: "{}" })).status;
      await until(() => direct({}).then(Boolean, () => false));

      const merchant = await openMerchant();
      const id = await paidPayment(merchant);
      const said = JSON.stringify({ transactionId: id, status: "Completed" });
      const own = withEnv(merchant, { LENDEN_CALLBACK_SECRET: "own secret" });
      const listener = await listenAs(own, "--forward-to", `${url}?shop=1`);
      expect(await listener.send(said)).toBe(204);
      expect(await listener.send("nonsense", {}, "/?transactionId=TX1%20")).toBe(204);
      // Anyone who reaches the handler can write these headers, but not sign them.
      expect(await direct({ "x-lenden-verified": "true", "x-lenden-status": "Completed" })).toBe(
        403,
      );
      const spy = await startHandler();
      const other = await own.lenden(["callback", "replay", "1", "--forward-to", spy.url]);
      expect(other.code).toBe(0);
      // Signed with the secret, but for another path and another body.
      expect(await direct(lendenHeaders(spy.handled[0]))).toBe(403);
    },
  );
});

function lendenHeaders(handled: Handled | undefined): Record<string, string> {
  const own = Object.entries(handled?.headers ?? {}).filter(([name]) =>
    name.startsWith("x-lenden"),
  );
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}

test("a handler that never responds is cut off in time, also after garbage was collected", async () => {
  const { url } = await startHandler(() => "never");
  const forwarding = forward(callback, { ...options, url });
  for (let times = 0; times < 5; times += 1) {
    await delay(30);
    collectGarbage();
  }
  expect(await forwarding).toEqual({
    status: null,
    fault: "no response in time",
  });
});

test.each([
  ["switches to another protocol", "HTTP/1.1 101 A\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
  ["sends 101 and no more", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["sends nothing", ""],
  ["sends nonsense", "hello\r\n\r\n"],
])("a handler that %s does not keep others waiting", async (_, answer) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => (answer.includes("101") ? socket.write(answer) : socket.end(answer)));
  });
  const url = `http://127.0.0.1:${await listen(server)}/`;
  onTestFinished(() => void server.close());
  const { take } = await smallListener({
    // A sender that waits for the end of a forward would wait longer than this test.
    limits: { atOnce: 2, forwardMs: 600_000, answerMs: 600_000 },
    look: async () => record,
    forwardTo: url,
  });
  for (const n of [1, 2, 3]) expect(await take(`{"transactionId":"TX${n}"}`)).toBe(502);
});
