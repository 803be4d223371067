import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { answering } from "../support/server.ts";

const account = testAccount();
const payout = {
  amount: 1250.5,
  merchantRef: "API-1",
  recipientNumber: "01712345678",
  paymentMethodId: "665f1c2ab8e4",
};

const order = [
  ...["amount=5", "description=Order 1", "paymentMethodId=665f1c2ab8e4"],
  ...["redirect_url=https://a.example/", "callback_url=https://a.example/"],
].flatMap((field) => ["-f", field]);

test("api GET prints the body and sends fields in the query", async () => {
  const { stdout, code } = await account.run(["api", "GET", "/payment/methods"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    success: true,
    data: [{ codeName: "bkash" }, {}, {}],
  });
  const { env, asked } = await answering(() => ({}));
  await lenden(["api", "get", "x?a=1", "-f", "b=two words", "-f", "c=&=ৎ"], { env });
  expect(asked).toEqual(["GET /cp/api/v1/x?a=1&b=two+words&c=%26%3D%E0%A7%8E"]);
});

test("api --include shows status and headers", async () => {
  const { stdout } = await account.run(["api", "GET", "/sandbox/info", "--include"]);
  expect(stdout).toMatch(/^200\n/);
  expect(stdout).toContain("content-type: application/json");
  const json = await account.run(["api", "GET", "/sandbox/info", "--include", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: 200, body: { success: true } });
});

test("a deeply nested response to a raw payment is shown unchanged, and its outcome is unknown", async () => {
  const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`;
  const { env } = await answering(() => ({ body: `{"success":true,"data":${deep}}` }));
  const { stdout, code } = await lenden(["api", "POST", "/payment/create", ...order], { env });
  expect(code).toBe(75);
  expect(stdout).toContain(deep);
});

test("a raw payout from fields is signed, and the sandbox accepts the signature", async () => {
  const fields = Object.entries({ ...payout, amount: "1250.50" }).flatMap(([name, value]) => [
    "-f",
    `${name}=${value}`,
  ]);
  const { code, stdout, stderr } = await account.run([
    "api",
    "POST",
    "/payout/create-by-server",
    ...fields,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ data: { merchantRef: "API-1", amount: 1250.5 } });
});

test("a raw payout from a file or from stdin is signed with the current time", async () => {
  const file = join(scratchFolder(), "payout.json");
  writeFileSync(file, JSON.stringify({ ...payout, merchantRef: "API-2", amount: 2 }));
  const line = ["api", "POST", "/payout/create-by-server", "--input"];
  expect((await account.run([...line, file])).code).toBe(0);
  const stdin = JSON.stringify({
    ...payout,
    merchantRef: "API-3",
    amount: 3,
    timestamp: 1763614800,
  });
  expect((await account.run([...line, "-"], { stdin })).code).toBe(0);
});

test.each([
  [["GET", "/payment/retrieve/TX0"], 9, "NOT_FOUND"],
  [["POST", "/payment/create", ...order.with(5, "paymentMethodId=none")], 3, "VALIDATION"],
  [["POST", "/sandbox/trigger-payment", "-f", "transactionId=TX0"], 9, "NOT_FOUND"],
  [["PUT", "/payment/methods"], 3, "METHOD_NOT_ALLOWED"],
  [["DELETE", "/nowhere"], 9, "UNKNOWN_ROUTE"],
])("api %j ends with %s and prints the body of the error", async (line, exit, text) => {
  const { code, stdout, stderr } = await account.run(["api", ...line]);
  expect(code).toBe(exit);
  expect(JSON.parse(stdout)).toMatchObject({ success: false, code: text });
  expect(stderr).toMatch(/\(HTTP 4\d\d\)/);
});

test.each([
  ["POST", 500, "broken", 75],
  ["GET", 500, "broken", 69],
  ["POST", 200, "not JSON", 75],
  ["POST", 200, '{"success":false}', 3],
  ["POST", 302, "", 75],
  ["GET", 429, "{}", 69],
  ["POST", 403, "{}", 4],
])(
  "a raw %s that gets %s with %j ends with %s after one request",
  async (method, status, body, exit) => {
    const { env, asked } = await answering(() => ({ status, body }));
    const line = method === "GET" ? ["/payment/methods"] : ["/payment/create", ...order];
    const { code } = await lenden(["api", method, ...line], { env });
    expect({ code, asked: asked.length }).toEqual({ code: exit, asked: 1 });
  },
);

test.each([
  "/../v2/x",
  "/payment/../../x",
  "..",
  "/%2e%2e/%2E%2e/x",
  "/.%2e/x",
  "/x/..",
  "/x/../..?a=1",
  "//evil.example/x",
  "/x//y",
  "/x\\..\\y",
  "/x#y",
  "/x y",
  "/x\n",
  "/é",
  "https://evil.example/x",
  "/\\evil.example",
])("api rejects the path %j", async (path) => {
  const before = await account.asked();
  expect((await account.run(["api", "GET", path])).code).toBe(2);
  expect(await account.asked()).toEqual(before);
});

test.each([
  "C:/Program Files/Git/payment/methods",
  "C:/Git/payment/methods",
  "D:/msys64/payment/methods?a=b",
  "c:\\Git\\payment\\methods",
])("api names Git Bash for the path %j, and what to type", async (path) => {
  const before = await account.asked();
  const { code, stderr } = await account.run(["api", "GET", path]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("Omit the leading slash"),
  });
  expect(await account.asked()).toEqual(before);
  expect(await account.run(["api", "GET", "payment/methods"])).toMatchObject({ code: 0 });
});

test.each([
  [["POST", "/x", "-f", "amount=1,250"], "--field amount"],
  [["POST", "/x", "-f", "timestamp=now"], "--field timestamp"],
  [["POST", "/x", "-f", "=5"], "--field: Write a field as key=value"],
  [["POST", "/x", "-f", "a"], "--field: Write a field as key=value"],
  [["POST", "/x", "--input", "-", "-f", "a=1"], "--input and --field cannot be used together."],
  [["GET", "/x", "--input", "-"], "a GET has no body"],
  [["POST", "/x", "--input", "/nowhere"], "--input: /nowhere cannot be read: not found (ENOENT)"],
  [["HEAD", "/x"], '<method>: "HEAD" is not one of'],
  [["GET"], "Missing required argument <path>"],
])("%j is rejected", async (line, why) => {
  const { code, stderr } = await account.run(["api", ...line]);
  expect(code).toBe(2);
  expect(stderr).toContain(why);
});

test.each(["", "[]", "5", "null", '"text"', "{", "\ufffe"])(
  "api --input rejects stdin that is not a JSON object: %j",
  async (stdin) => {
    const { code, stderr } = await account.run(["api", "POST", "/x", "--input", "-"], { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain("--input: the body is not a JSON object.");
  },
);
