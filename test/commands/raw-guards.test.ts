import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hidesWrite, isAmbiguous } from "../../src/operations/raw.ts";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { openMerchant, payoutOf } from "../support/merchant.ts";
import { startService } from "../support/server.ts";

const refund = [
  ...["-f", "transactionId=TX1", "-f", "amount=5", "-f", "accountNumber=01812345678"],
  ...["-f", "accountType=PERSONAL_ACCOUNT"],
];
const quiet = () => startService(() => ({ data: {} }));

test.each([
  "/refund%2fcreate-a-request",
  "/x/..%2frefund/create-a-request",
  "/x/..%2Frefund%2Fcreate-a-request",
  "/x/..%5crefund/create-a-request",
  "/refund/create%252Da-request",
  "/refund/%63reate%25252Da-request",
  "/refund/create-a-request%3fx=1",
  "/refund/.%3b/create-a-request",
  "/refund%2f/create-a-request",
  "/refund/create-a-request%00",
  "/refund/%c0%afcreate-a-request",
  "/refund/create%2da-request",
  "/refund/create-a-request;v=1",
  "/refund/create-a-request.",
  "/refund/create-a-request/,",
])("a raw POST to %s is rejected, because servers may read it as a refund", async (path) => {
  const { env, asked } = await quiet();
  for (const verb of ["POST", "PATCH", "PUT", "DELETE"]) {
    const { code, stdout, stderr } = await lenden(["api", verb, path, ...refund], { env });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Nothing was sent.");
  }
  expect(asked).toEqual([]);
});

test("an endpoint that changes something is called with its own method only", async () => {
  const { env, asked } = await quiet();
  for (const verb of ["PATCH", "PUT", "DELETE"]) {
    const { code } = await lenden(["api", verb, "/refund/create-a-request", ...refund], { env });
    expect(code).toBe(2);
  }
  expect(asked).toEqual([]);
});

test("a raw payout is guarded as the command is, however its path is written", async () => {
  const merchant = await openMerchant();
  expect((await merchant.lenden(payoutOf("GUARDED"))).code).toBe(0);
  const sent = (await merchant.moneyRequests()).length;
  const to = ["recipientNumber=01712345678", "paymentMethodId=665f1c2ab8e4"];
  const call = (path: string, amount: number, reference: string) => {
    const fields = [`amount=${amount}`, `merchantRef=${reference}`, ...to];
    return merchant.lenden(["api", "POST", path, ...fields.flatMap((one) => ["-f", one])]);
  };
  for (const [path, isRead] of [
    ["/payout/create-by-server/", true],
    ["/Payout/Create-By-Server", true],
    ["/payout/create-by-server?x=1", true],
    ["/%70ayout/create-by-server", false],
    ["/payout/create%2Dby%2Dserver", false],
    ["//payout/create-by-server", false],
    ["/payout//create-by-server", false],
    [`${merchant.baseUrl}/payout/create-by-server`, false],
  ] as const) {
    const other = await call(path, 6, "GUARDED");
    const second = await call(path, 5, "LD-01KASW0000000000000000000Z");
    expect([path, other.code, second.code]).toEqual([path, ...(isRead ? [5, 3] : [2, 2])]);
  }
  expect(await merchant.moneyRequests()).toHaveLength(sent);
  expect(await merchant.books("payouts")).toHaveLength(1);
});

test.each([
  ["shorter than the API's", "/cp", "/api/v1/refund/create-a-request"],
  ["longer than the API's", "/cp/api/v1/refund", "/create-a-request"],
  ["in other letters", "/CP/api/v1/Refund", "/create-a-request/"],
  ["encoded", "/cp/api/v1/%72efund", "/create-a-request"],
])("a raw refund is rejected if the base URL is %s", async (_, base, path) => {
  const { env, asked } = await quiet();
  const { origin } = new URL(env.LENDEN_BASE_URL ?? "");
  const other = { ...env, LENDEN_BASE_URL: origin + base };
  for (const more of [[], ["--again"], ["--dry-run"]]) {
    const ended = await lenden(["api", "POST", path, ...refund, ...more], { env: other });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain("Nothing was sent.");
  }
  expect(asked).toEqual([]);
});

test.each([
  ["/a/b", false],
  ["/A/b?x=%2f..%2f;", false],
  ["/a%2Fb", true],
  ["/a;v=1?x", true],
])("the path %s can be read in more than one way: %s", (path, isIt) => {
  expect(isAmbiguous(path)).toBe(isIt);
});

test.each([
  ["POST", "/nothing", "https://a.example/cp/api/v1", false],
  ["POST", "/refund/create-a-request", "https://a.example/cp/api/v1", false],
  ["POST", "/api/v1/refund/create-a-request?x=1", "https://a.example/cp", true],
  ["PATCH", "/cancel-by-platform/RF1", "https://a.example/cp/api/v1/refund", true],
  ["POST", "/trigger-payout", "https://a.example/cp/api/v1/Sandbox", true],
])("%s %s with the base URL %s hides a write: %s", (method, path, baseUrl, isIt) => {
  expect(hidesWrite({ method, path }, baseUrl)).toBe(isIt);
});

test("a plain read may be written in any way", async () => {
  const { env, asked } = await quiet();
  expect(await lenden(["api", "GET", "/x/A%2FB%2525"], { env })).toMatchObject({
    code: 0,
  });
  expect(asked).toHaveLength(1);
});

test.each([
  ['{"amount":5,"amount":6}', "the key amount twice"],
  ['{"amount":5,"\\u0061mount":6}', "the key amount twice"],
  ['{"a":[{"b":{"c":1,"d":2,"c":1}}]}', "the key c twice"],
  ['{"a b":1,"a b":1}', "a key twice"],
])("a raw body that names a key twice is rejected: %s", async (body, says) => {
  const { env, asked } = await quiet();
  const file = join(scratchFolder(), "body.json");
  writeFileSync(file, body);
  const line = ["api", "POST", "/payout/create-by-server", "--input"];
  const outcomes = [
    await lenden([...line, file], { env }),
    await lenden([...line, "-"], { env, stdin: body }),
  ];
  for (const { code, stderr } of outcomes) {
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  }
  expect(asked).toEqual([]);
});

test("a raw body may name the same key in different objects, and as a value", async () => {
  const { env, asked } = await quiet();
  const body = '{"a":{"a":1},"b":[{"a":1},{"a":"a"}],"c":"{\\"a\\":1,\\"a\\":2}"}';
  const line = ["api", "POST", "/x", "--input", "-"];
  expect(await lenden(line, { env, stdin: body })).toMatchObject({ code: 0 });
  expect(asked.map((one) => one.body)).toEqual([JSON.parse(body)]);
});

test("two fields of one name and different values are rejected", async () => {
  const { env, asked } = await quiet();
  const line = ["api", "POST", "/x", "-f", "amount=1", "-f", "amount=2"];
  expect(await lenden(line, { env })).toMatchObject({ code: 2 });
  expect(asked).toEqual([]);
});

const secrets = {
  apiKey: "sk_sandbox_AbC-0123456789ab-XyZ",
  payoutSecret: "s3cret-of-this-very-test",
};

/** The secrets come from the environment, or from a profile, whose file nothing has read yet. */
async function withSecrets(from: "environment" | "profile") {
  const { env, asked } = await quiet();
  const { LENDEN_BASE_URL: baseUrl = "", LENDEN_CONFIG_DIR: folder = "" } = env;
  if (from === "environment")
    return {
      asked,
      env: { ...env, LENDEN_API_KEY: secrets.apiKey, LENDEN_PAYOUT_SECRET: secrets.payoutSecret },
    };
  const own = { LENDEN_CONFIG_DIR: folder };
  mkdirSync(folder, { recursive: true });
  const files = Object.entries(secrets).map(([name, text]) => {
    const file = join(scratchFolder(), name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  });
  const line = ["profile", "add", "shop", "--base-url", baseUrl, "--no-input"];
  const added = await lenden(
    [...line, "--key-file", files[0] ?? "", "--secret-file", files[1] ?? ""],
    {
      env: own,
    },
  );
  if (added.code !== 0) throw new Error(added.stderr);
  return { asked, env: { ...own, LENDEN_PROFILE: "shop" } };
}

const typed = (secret: string): [string, string[]][] => [
  ["pay get", ["pay", "get", secret]],
  ["payout get", ["payout", "get", secret]],
  ["refund get", ["refund", "get", `x${secret}`]],
  ["payout wait", ["payout", "wait", secret]],
  ["refund cancel", ["refund", "cancel", secret]],
  ["sandbox trigger", ["sandbox", "trigger", "payment", secret]],
  [
    "payout send",
    ["payout", "send", "--amount", "5", "--to", "01712345678", "--method-id", "m", "--ref", secret],
  ],
  [
    "pay create",
    ["pay", "create", "--amount", "5", "--method-id", "m", "--description", `for ${secret}`],
  ],
  ["ledger resolve", ["ledger", "resolve", "--created", secret, "X"]],
  ["ledger show", ["ledger", "show", secret]],
  ["a raw path", ["api", "GET", `/payment/retrieve/${secret}`]],
  [
    "an encoded raw path",
    ["api", "GET", `/x/%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`],
  ],
  ["a raw field", ["api", "POST", "/x", "-f", `note=${secret}`]],
];

test.each(
  (["environment", "profile"] as const).flatMap((from) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      typed(secret).map(([what, line]) => ({ from, name, secret, what, line })),
    ),
  ),
)("the $name of the $from is not sent by $what, nor echoed", async ({ from, secret, line }) => {
  const { env, asked } = await withSecrets(from);
  const { code, stdout, stderr } = await lenden(line, { env });
  // The ledger knows no operation of this name, which is not a usage error.
  expect([code, asked]).toEqual([line[0] === "ledger" ? 9 : 2, []]);
  expect(stdout + stderr).not.toContain(secret);
});

test("a secret inside a raw body of a file is not sent", async () => {
  const { env, asked } = await withSecrets("profile");
  const stdin = JSON.stringify({ note: { deep: [secrets.payoutSecret] } });
  const { code, stdout, stderr } = await lenden(["api", "POST", "/x", "--input", "-"], {
    env,
    stdin,
  });
  expect([code, asked]).toEqual([2, []]);
  expect(stdout + stderr).not.toContain(secrets.payoutSecret);
});
