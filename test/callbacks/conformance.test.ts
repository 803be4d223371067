import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type CaseName, caseNames } from "../../src/callbacks/conformance.ts";
import { junitText } from "../../src/cli/output/junit.ts";
import type { Signal } from "../../src/platform/host.ts";
import { openShop } from "../shops/running.ts";
import { type AtEnd, scratchFolder } from "../support/helpers.ts";
import type { Outcome } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";
import { answering, type Behaviour, closedPort, serve } from "../support/server.ts";
import { listenApart } from "./listening.ts";

// Each shop is a process of its own that mostly waits, so they run at the same time.
vi.setConfig({ testTimeout: 60_000 });

/** What each shop of test/shops fails. */
const failures: Record<string, CaseName[]> = {
  "right.js": [],
  "wrong.js": [
    ...(["forged", "replayed", "wrong-amount", "wrong-status", "unknown-id"] as const),
    ...(["reordered", "duplicated", "other-account"] as const),
  ],
  "half-wrong.js goes on where the service knows nothing": ["unknown-id"],
  "half-wrong.js takes the status from the callback": ["forged"],
  "half-wrong.js does not look at the status": ["forged"],
  "half-wrong.js does not compare the amount": ["wrong-amount"],
  "half-wrong.js takes the order from the callback": ["other-account"],
  "half-wrong.js takes the order from its address": ["other-account"],
  "half-wrong.js books every time": ["replayed", "wrong-status", "reordered", "duplicated"],
  "half-wrong.js looks, waits, and books": ["duplicated"],
  "half-wrong.js undoes what is paid": ["wrong-status", "reordered"],
};

for (const [shop, failed] of Object.entries(failures)) {
  test.concurrent(`${shop} fails ${failed.join(", ") || "nothing"}`, async ({ onTestFinished }) => {
    const { code, all } = await tested(shop, ["--settle", "1ms"], onTestFinished);
    expect(all.map((one) => one.case)).toEqual(caseNames);
    const notPassed = all.filter(({ verdict }) => verdict !== "passed");
    expect(notPassed.map((one) => one.case)).toEqual(failed);
    for (const { verdict, todo } of all) expect(todo !== null).toBe(verdict === "failed");
    expect(code).toBe(failed.length > 0 ? 11 : 0);
  });
}

test.concurrent("a store may record the payment after its response, within --settle", async ({
  onTestFinished,
}) => {
  const flags = ["--only", "forged", "--settle", "1s"];
  const shop = "half-wrong.js asks after its answer";
  expect(await tested(shop, flags, onTestFinished)).toMatchObject({
    code: 0,
    all: [{ booked: 500 }, { booked: 0, asked: 1 }],
  });
});

test.concurrent("a handler that rejects everything passes nothing", async ({ onTestFinished }) => {
  const flags = ["--settle", "1ms"];
  const found = await tested("half-wrong.js refuses everything", flags, onTestFinished);
  expect(verdicts(found)).toEqual({
    ...each(caseNames, "undecided"),
    ...each(["genuine", "replayed", "wrong-status", "reordered", "duplicated"], "failed"),
  });
});

test.concurrent("without --orders nothing passes that was not seen", async ({ onTestFinished }) => {
  const names = ["forged", "replayed", "unknown-id"] as const;
  const flags = [...names.flatMap((name) => ["--only", name]), "--settle", "1ms"];
  const seen = async (shop: string) =>
    verdicts(await tested(shop, flags, onTestFinished, { hasOrders: false }));
  expect(await seen("half-wrong.js knows no orders beforehand")).toEqual({
    ...each(["genuine", ...names], "passed"),
    replayed: "undecided",
  });
  expect(await seen("half-wrong.js trusts who was right once")).toEqual({
    genuine: "passed",
    ...each(["forged", "unknown-id"], "failed"),
    replayed: "undecided",
  });
  // It may retrieve later, or from another sandbox: that it retrieved nothing proves nothing.
  expect(await seen("wrong.js")).toEqual(each(["genuine", ...names], "undecided"));
});

test("shows what was sent, answered, retrieved and booked", async () => {
  const merchant = await openMerchant();
  const shop = await openShop(["right.js"], merchant.env, onTestFinished);
  const line = ["callback", "test", shop.callback, "--orders", shop.orders];
  line.push("--only", "forged", "--settle", "1ms");
  const { stdout, stderr } = await merchant.lenden([...line, "--json"]);
  const payments = await merchant.books("payments");
  expect([stderr, payments.length]).toEqual(["", 2]);
  expect(JSON.parse(stdout)).toEqual([
    {
      case: "genuine",
      sent: expect.any(String),
      transactionId: payments[0]?.id,
      answers: [{ status: 200, fault: null }],
      asked: 1,
      booked: 500,
      verdict: "passed",
      because: "It booked BDT 500.00.",
      todo: null,
    },
    expect.objectContaining({ case: "forged", transactionId: payments[1]?.id, booked: 0 }),
  ]);
  const shown = await merchant.lenden(line);
  expect(shown.stdout).toMatch(/^passed {4}genuine .*Sent the callback of .* Responses: 200; /);
});

test("reports a handler that hangs, resets, redirects and responds nonsense", async () => {
  const merchant = await openMerchant();
  const ways: Behaviour[] = [
    { do: "silence" },
    { do: "reset" },
    { do: "send", bytes: "SSH-2.0-OpenSSH_9.2\r\n\r\n", ending: "close" },
    { do: "answer", status: 307, headers: { location: "http://127.0.0.1:1/elsewhere" } },
    { do: "answer", status: 500, body: "x".repeat(1024 * 1024) },
  ];
  const { port, asked } = await serve(() => ways[asked.length - 1] ?? { do: "close" });
  const names = ["forged", "wrong-amount", "unknown-id", "other-account"];
  const only = names.flatMap((name) => ["--only", name]);
  const quickly = ["--settle", "1ms", "--answer-within", "1s"];
  const line = ["callback", "test", `http://127.0.0.1:${port}/`, ...only, ...quickly, "--json"];
  const { code, stdout, stderr } = await merchant.lenden(line);
  const all: Tested[] = JSON.parse(stdout);
  expect(all.flatMap(({ answers }) => answers)).toEqual([
    { status: null, fault: "no answer in time (TIMEOUT)" },
    { status: null, fault: "connection lost (ECONNRESET)" },
    { status: null, fault: expect.stringContaining("answer not HTTP") },
    { status: 307, fault: null },
    { status: 500, fault: null },
  ]);
  expect(all.map(({ verdict }) => verdict)).toEqual([
    ...["failed", "failed", "failed", "undecided", "failed"],
  ]);
  expect([code, JSON.parse(stderr).error.kind]).toEqual([11, "unverified"]);
});

test("sends nothing to another machine without --own-host, and ends with 69 without a handler", async () => {
  const merchant = await openMerchant();
  for (const [code, ...args] of [
    [2, "https://192.0.2.7/"],
    [2, "https://0.0.0.0/"],
    [69, "https://absent.invalid/", "--own-host", "absent.invalid"],
  ] as const) {
    const ended = await merchant.lenden(["callback", "test", ...args]);
    expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: "" });
  }
  expect(await merchant.requests()).toEqual([]);
  const url = `http://127.0.0.1:${await closedPort()}/`;
  expect(await merchant.lenden(["callback", "test", url])).toMatchObject({ code: 69, stdout: "" });
});

test("works only with a local sandbox, and never with a production account", async () => {
  const merchant = await openMerchant();
  const { port, asked } = await serve(() => ({ do: "answer" }));
  const line = ["callback", "test", `http://127.0.0.1:${port}/`];
  const env = {
    LENDEN_API_KEY: "public-AAA-000000000000-AAA",
    LENDEN_BASE_URL: "https://s.invalid",
  };
  const production = await merchant.lenden(line, { host: { env } });
  const { baseUrl } = await answering(() => ({ status: 404, body: '{"success":false}' }));
  const other = await merchant.lenden([...line, "--base-url", baseUrl]);
  expect([production.code, other.code, asked]).toEqual([4, 4, []]);
  expect(other.stderr).toContain("Only a local sandbox can do this");
});

test("ends if the store accepts no orders, and decides nothing if it returns no amount", async () => {
  const merchant = await openMerchant();
  let status = 404;
  const { port } = await serve(({ method }) => ({
    do: "answer",
    status: method === "PUT" ? status : 200,
    body: '{"paid":"a lot"}',
  }));
  const shop = `http://127.0.0.1:${port}`;
  const line = ["callback", "test", shop, "--orders", `${shop}/{id}`, "--only", "forged"];
  line.push("--settle", "1ms", "--json");
  const rejected = await merchant.lenden(line);
  expect([rejected.code, JSON.parse(rejected.stderr).error.reason]).toEqual([
    3,
    "callback.order-rejected",
  ]);
  status = 204;
  const { code, stdout } = await merchant.lenden(line);
  expect(code).toBe(11);
  for (const { verdict, because } of JSON.parse(stdout))
    expect([verdict, because]).toEqual(["undecided", "GET at --orders returned no amount (200)."]);
});

test("Ctrl-C ends it with 130, and --timeout with 69", async () => {
  const merchant = await openMerchant();
  let stop = (_: Signal): void => {};
  const { port, asked } = await serve(() => {
    if (asked.length === 1) stop("SIGINT");
    return { do: "silence" };
  });
  const line = ["callback", "test", `http://127.0.0.1:${port}/`, "--only", "genuine"];
  const onStart = (signal: (name: Signal) => void) => {
    stop = signal;
  };
  expect(await merchant.lenden(line, { onStart })).toMatchObject({ code: 130, stdout: "" });
  const late = await merchant.lenden([...line, "--timeout", "1s"]);
  expect(late).toMatchObject({ code: 69, stdout: "" });
  expect(late.stderr).toContain("The time of --timeout ended");
});

test("behind 'callback listen --forward-to' each shop is what it is by itself", async () => {
  const merchant = await openMerchant();
  for (const [file, code] of [
    ["right.js", 0],
    ["wrong.js", 11],
  ] as const) {
    const { callback, orders } = await openShop([file], merchant.env, onTestFinished);
    const listener = await listenApart(merchant, "--forward-to", callback);
    const line = ["callback", "test", `${listener.url}/`, "--orders", orders, "--only", "forged"];
    const { stdout, ...ended } = await merchant.built([...line, "--settle", "1ms", "--json"]);
    expect([file, ended.code]).toEqual([file, code]);
    for (const { asked } of JSON.parse(stdout)) expect(asked).toBeGreaterThan(0);
    listener.kill("SIGTERM");
    await listener.ended;
  }
});

test("writes a JUnit report with what failed and what is undecided", async () => {
  const merchant = await openMerchant();
  const { callback, orders } = await openShop(["wrong.js"], merchant.env, onTestFinished);
  const file = join(scratchFolder(), "report.xml");
  const line = ["callback", "test", callback, "--only", "forged", "--settle", "1ms", "--junit"];
  expect((await merchant.lenden([...line, file, "--orders", orders])).code).toBe(11);
  const report = readFileSync(file, "utf8");
  expect(report).toContain('tests="2" failures="1" errors="0" skipped="0"');
  expect(report).toMatch(/name="forged">\n +<failure message="It booked .*Responses: 200;/);
  expect((await merchant.lenden([...line, file])).code).toBe(11);
  expect(readFileSync(file, "utf8")).toContain("<skipped message=");
  const nowhere = await merchant.lenden([...line, "/nowhere/report.xml", "--json"]);
  expect([nowhere.code, JSON.parse(nowhere.stderr).error.reason]).toEqual([
    1,
    "callback.report-not-written",
  ]);
});

test("a JUnit report escapes what XML cannot contain", () => {
  const one = {
    name: "a",
    state: "failed",
    because: `<b "c">&\u001b\ud800`,
    details: "]]>",
  } as const;
  const report = junitText("suite", [one]);
  expect(report).toContain('<failure message="&lt;b &quot;c&quot;&gt;&amp;">]]&gt;</failure>');
});

interface Tested {
  case: CaseName;
  verdict: string;
  because: string;
  answers: { status: number | null; fault: string | null }[];
  asked: number;
  booked: number | null;
  todo: string | null;
}

/** Tests a shop of test/shops, with a sandbox of its own. */
async function tested(
  shop: string,
  flags: string[],
  atEnd: AtEnd,
  { hasOrders = true } = {},
): Promise<Outcome & { all: Tested[] }> {
  const merchant = await openMerchant({}, atEnd);
  const [, file = "", fault = ""] = /^(\S+) ?(.*)$/.exec(shop) ?? [];
  const { callback, orders } = await openShop([file, fault], merchant.env, atEnd);
  const book = hasOrders ? ["--orders", orders] : [];
  const line = ["callback", "test", `${callback}?order={order}`, ...book, ...flags, "--json"];
  const outcome = await merchant.lenden(line);
  return { ...outcome, all: JSON.parse(outcome.stdout || "[]") };
}

function verdicts({ all }: { all: Tested[] }): Record<string, string> {
  return Object.fromEntries(all.map((one) => [one.case, one.verdict]));
}

function each(names: readonly string[], verdict: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, verdict]));
}
