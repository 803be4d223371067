import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { exchange } from "../../src/callbacks/trial/exchange.ts";
import { openWay } from "../../src/callbacks/trial/way.ts";
import { junitText } from "../../src/cli/output/junit.ts";
import type { Signal } from "../../src/platform/host.ts";
import { answering } from "../answering.ts";
import { type Behaviour, closedPort, misbehave, misbehaviours } from "../http/misbehaving.ts";
import { openMerchant } from "../merchant.ts";
import { scratchFolder } from "../run.ts";
import { openShop } from "../shops/running.ts";
import { listenApart } from "./listening.ts";

const quickly = ["--settle", "1ms", "--answer-within", "1s"];

test("whatever a handler answers, it is an answer or it is said why not", async () => {
  const limits = { answerMs: 300, signal: new AbortController().signal };
  const sound = '{"success":true}';
  const endless: Behaviour = {
    do: "drip",
    bytes: "HTTP/1.1 200 OK\r\n\r\nx".repeat(99),
    everyMs: 50,
  };
  const all = { ...misbehaviours(sound), silence: { do: "silence" }, endless } as const;
  for (const [name, behaviour] of Object.entries(all)) {
    const { port } = await misbehave(() => behaviour);
    const url = `http://127.0.0.1:${port}/`;
    const way = { template: url, address: "127.0.0.1", family: 4 };
    const came = await exchange(way, new URL(url), { method: "GET" }, limits);
    expect([name, (came.status === null) !== (came.fault === null)]).toEqual([name, true]);
    expect(came.text.length).toBeLessThanOrEqual(64 * 1024);
  }
});

test("a handler that hangs, resets and talks nonsense is told, case by case", async () => {
  const merchant = await openMerchant();
  const ways: Behaviour[] = [
    { do: "silence" },
    { do: "reset" },
    { do: "send", bytes: "SSH-2.0-OpenSSH_9.2\r\n\r\n", ending: "close" },
    { do: "answer", status: 307, headers: { location: "http://127.0.0.1:1/elsewhere" } },
    { do: "answer", body: "\u001b[2J\u202e" },
    { do: "answer", status: 500, body: "x".repeat(1024 * 1024) },
  ];
  const { port, asked } = await misbehave(
    () => ways[(asked.length - 1) % ways.length] ?? { do: "close" },
  );
  const names = ["forged-id", "forged-status", "wrong-amount", "other-order", "unknown-status"];
  const only = names.flatMap((name) => ["--only", name]);
  const line = ["callback", "test", `http://127.0.0.1:${port}/`, ...only, ...quickly];
  const { code, stdout, stderr } = await merchant.lenden([...line, "--json"]);
  expect(code).toBe(11);
  const all: { answers: unknown; verdict: string }[] = JSON.parse(stdout);
  expect(all.flatMap(({ answers }) => answers)).toEqual([
    { status: null, fault: "no answer within 1 s" },
    { status: null, fault: "the connection was cut (ECONNRESET)" },
    { status: null, fault: "an answer that is no HTTP (HPE_INVALID_CONSTANT)" },
    { status: 307, fault: null },
    { status: 200, fault: null },
    { status: 500, fault: null },
  ]);
  expect(all.map(({ verdict }) => verdict)).toEqual([
    ...["failed", "undecided", "undecided", "undecided"],
    ...["undecided", "failed"],
  ]);
  expect(JSON.parse(stderr).error).toMatchObject({ kind: "unverified" });
});

test("nobody who listens is 69, and no payment is made", async () => {
  const merchant = await openMerchant();
  const ways = [
    [`http://127.0.0.1:${await closedPort()}/`],
    ["https://nobody.invalid/", "--own-host", "nobody.invalid"],
  ];
  for (const way of ways) {
    const { code, stdout } = await merchant.lenden(["callback", "test", ...way]);
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
  }
  expect(await merchant.books("payments")).toEqual([]);
});

describe("where it sends", () => {
  const elsewhere = [{ address: "192.0.2.7", family: 4 }];
  const here = [{ address: "127.0.0.1", family: 4 }];
  const way = (url: string, found: typeof here, ownHost?: string) =>
    openWay(url, { label: "<url>", ownHost, resolve: async () => found, limitMs: 300 });

  test.each([
    ["a name that leads elsewhere", "https://shop.example/", elsewhere],
    ["localhost, where that leads elsewhere", "http://localhost/", elsewhere],
    ["a name that leads here and elsewhere", "https://shop.example/", [...here, ...elsewhere]],
    ["every address of this machine", "https://shop.example/", [{ address: "0.0.0.0", family: 4 }]],
  ])("%s is refused", async (_, url, found) => {
    await expect(way(url, found)).rejects.toMatchObject({ kind: "usage" });
    await expect(way(url, found, "example")).rejects.toMatchObject({ kind: "usage" });
  });

  test("a host that somebody calls his own is sent to, and a name that leads here", async () => {
    const { port } = await misbehave(() => ({ do: "silence" }));
    const url = `https://shop.example:${port}/`;
    expect(await way(url, here)).toEqual({ template: url, address: "127.0.0.1", family: 4 });
    // Linux takes it for this machine; here it stands for any other.
    const other = { address: "0.0.0.0", family: 4 };
    expect(await way(url, [other], "SHOP.example")).toEqual({ template: url, ...other });
  });

  test("the request goes to the address that was looked at, under the host that was named", async () => {
    const { port, asked } = await misbehave(() => ({ do: "answer", body: "{}" }));
    const url = `http://shop.example:${port}/`;
    const limits = { answerMs: 5_000, signal: new AbortController().signal };
    const { status } = await exchange(
      await way(url, here),
      new URL(url),
      { method: "GET" },
      limits,
    );
    expect([status, asked[0]?.headers.host]).toEqual([200, `shop.example:${port}`]);
  });

  test("the command says so, and makes no payment", async () => {
    const merchant = await openMerchant();
    const { code, stderr } = await merchant.lenden(["callback", "test", "https://192.0.2.7/"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--own-host 192.0.2.7");
    expect(await merchant.requests()).toEqual([]);
  });
});

test("a production account is refused before anything is looked up or sent", async () => {
  const { port, asked } = await misbehave(() => ({ do: "answer" }));
  const { lenden } = await openMerchant();
  const env = {
    LENDEN_API_KEY: "public-AAA-000000000000-AAA",
    LENDEN_BASE_URL: "https://s.invalid",
  };
  const host = { env };
  const { code, stderr } = await lenden(["callback", "test", `http://127.0.0.1:${port}/`], {
    host,
  });
  expect([code, asked]).toEqual([4, []]);
  expect(stderr).toContain("needs a sandbox account");
});

test("a service that keeps no journal is no local sandbox", async () => {
  const merchant = await openMerchant();
  const { baseUrl } = await answering(() => ({ status: 404, body: '{"success":false}' }));
  const { port } = await misbehave(() => ({ do: "answer" }));
  const line = ["callback", "test", `http://127.0.0.1:${port}/`, "--base-url", baseUrl];
  const { code, stderr } = await merchant.lenden(line);
  expect(code).toBe(4);
  expect(stderr).toContain("Only a local sandbox can do this");
});

test("a book that takes no orders ends it, one that talks nonsense leaves all undecided", async () => {
  const merchant = await openMerchant();
  let status = 404;
  const { port } = await misbehave(({ method }) => ({
    do: "answer",
    status: method === "PUT" ? status : 200,
    body: '{"paid":"a lot"}',
  }));
  const shop = `http://127.0.0.1:${port}`;
  const line = ["callback", "test", shop, "--orders", `${shop}/{id}`, "--only", "forged-id"];
  const refused = await merchant.lenden([...line, ...quickly]);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr).toContain("did not take an order of the test (404)");
  status = 204;
  const { code, stdout } = await merchant.lenden([...line, ...quickly, "--json"]);
  expect(code).toBe(11);
  for (const { verdict, because } of JSON.parse(stdout)) {
    expect([verdict, because]).toEqual([
      "undecided",
      "GET at --orders brought 200, and no amount.",
    ]);
  }
});

test("Ctrl-C ends it with 130, and --timeout with 69", async () => {
  const merchant = await openMerchant();
  let stop = (_: Signal): void => {};
  const { port, asked } = await misbehave(() => {
    if (asked.length === 1) stop("SIGINT");
    return { do: "silence" };
  });
  const line = ["callback", "test", `http://127.0.0.1:${port}/`, "--only", "genuine"];
  const stopped = await merchant.lenden(line, {
    onStart: (signal) => {
      stop = signal;
    },
  });
  expect(stopped).toMatchObject({ code: 130, stdout: "" });
  const late = await merchant.lenden([...line, "--timeout", "1s"]);
  expect(late).toMatchObject({ code: 69, stdout: "" });
  expect(late.stderr).toContain("--timeout ran out");
});

test("behind 'callback listen --forward-to' each shop is what it is by itself", async () => {
  const merchant = await openMerchant();
  for (const [file, code] of [
    ["right.js", 0],
    ["wrong.js", 11],
  ] as const) {
    const { callback, orders } = await openShop([file], merchant.env, onTestFinished);
    const listener = await listenApart(merchant, "--forward-to", callback);
    const only = ["forged-status", "replay"].flatMap((name) => ["--only", name]);
    const line = ["callback", "test", `${listener.url}/`, "--orders", orders, ...only];
    const { stdout, ...ended } = await merchant.built([...line, "--settle", "1ms", "--json"]);
    expect([file, ended.code]).toEqual([file, code]);
    for (const { asked } of JSON.parse(stdout)) expect(asked).toBeGreaterThan(0);
  }
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.skipIf(!hasPython)("the JUnit report", () => {
  test("is read by an XML parser, and says what failed and what is undecided", async () => {
    const merchant = await openMerchant();
    const { callback, orders } = await openShop(["wrong.js"], merchant.env, onTestFinished);
    const file = join(scratchFolder(), "report.xml");
    const report = ["--only", "forged-status", "--settle", "1ms", "--junit", file];
    const line = ["callback", "test", callback, ...report];
    expect((await merchant.lenden([...line, "--orders", orders])).code).toBe(11);
    const counts = { tests: "2", failures: "1", errors: "0", skipped: "0" };
    expect(parsedXml(readFileSync(file, "utf8"))).toMatchObject([
      { tag: "testsuites", of: counts },
      { tag: "testsuite", of: { name: "lenden callback test", ...counts } },
      { tag: "testcase", of: { classname: "lenden callback test", name: "genuine" } },
      { tag: "system-out" },
      { tag: "testcase", of: { name: "forged-status" } },
      { tag: "failure", of: { message: expect.stringContaining("It booked") } },
      { tag: "system-out", text: expect.stringContaining("Answered: 200.\nRetrieves") },
    ]);
    expect((await merchant.lenden(line)).code).toBe(11);
    expect(parsedXml(readFileSync(file, "utf8")).slice(2)).toMatchObject([
      { tag: "testcase", of: { name: "genuine" } },
      { tag: "skipped", of: { message: expect.stringContaining("asked this sandbox nothing") } },
      { tag: "system-out" },
      { tag: "testcase", of: { name: "forged-status" } },
      { tag: "skipped", of: { message: expect.stringContaining("--orders") } },
      { tag: "system-out" },
    ]);
    const nowhere = await merchant.lenden([...line.slice(0, -1), "/nowhere/report.xml"]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toContain("cannot be written (ENOENT)");
  });

  test("is well formed whatever is in it, and keeps all that XML can write", () => {
    const kept = `<a href='x'>&amp;]]>"\t\n\rআ 🌱`;
    const lost = "\u0000\u0008\u000b\u001b\ud800\ufffe\uffff";
    const hostile = `${kept}${lost}`;
    const one = { name: hostile, state: "failed", because: hostile, details: hostile } as const;
    const [, suite, testcase, failure, out] = parsedXml(junitText(hostile, [one]));
    expect(suite?.of.name).toBe(kept);
    expect(testcase?.of).toEqual({ classname: kept, name: kept });
    expect([failure?.of.message, failure?.text, out?.text]).toEqual([kept, kept, kept]);
  });
});

interface Element {
  tag: string;
  of: Record<string, string>;
  text: string | null;
}

/** All elements in the order of the document, as Python's parser sees them. */
function parsedXml(xml: string): Element[] {
  const script =
    "import json,sys,xml.etree.ElementTree as t\n" +
    "print(json.dumps([{'tag':e.tag,'of':e.attrib,'text':e.text} for e in t.fromstring(sys.stdin.buffer.read()).iter()]))";
  return JSON.parse(execFileSync("python3", ["-c", script], { input: xml, encoding: "utf8" }));
}
