import fc from "fast-check";
import { expect, test } from "vitest";
import { contract } from "../../src/api/contract/index.ts";
import { apiErrorIn } from "../../src/api/error-body.ts";
import { type Answer, classify } from "../../src/api/response.ts";
import type { Exchange, Headers } from "../../src/api/transport.ts";
import { runs } from "../support/helpers.ts";

const created = contract.createPayout.data;
const payout = { payoutId: "PO1", merchantRef: "INV-7", amount: 500, status: "Processing" };
const sound = JSON.stringify({ success: true, data: payout });

function answer(status: number, body: string | Uint8Array, headers: Headers = {}): Exchange {
  return { kind: "answer", status, headers, text: new TextDecoder().decode(Buffer.from(body)) };
}

/** The one word that decides what an operation does with an answer. */
function verdict(judged: Answer): string {
  return "why" in judged ? `${judged.kind}: ${judged.why}` : judged.kind;
}

test.each<[number, string, string]>([
  [200, sound, "data"],
  [201, sound, "data"],
  [299, sound, "data"],
  [200, `\ufeff${sound}`, "data"],
  [200, ` ${sound}\n`, "data"],
  [200, '{"success":false,"message":"no"}', "refused: refused"],
  [200, '{"success":false,"data":{}}', "refused: refused"],
  [200, JSON.stringify({ success: false, data: payout }), "unclear: record in a rejection"],
  [400, JSON.stringify({ message: "used", data: payout }), "unclear: record in a rejection"],
  [401, JSON.stringify({ data: payout }), "unclear: record in a rejection"],
  [200, "", "unclear: empty"],
  [204, "", "unclear: empty"],
  [200, " \n", "unclear: empty"],
  [200, sound.slice(0, -1), "unclear: not JSON"],
  [200, `${sound}x`, "unclear: not JSON"],
  [200, "<html>", "unclear: not JSON"],
  [200, "[]", "unclear: wrong shape"],
  [200, "null", "unclear: wrong shape"],
  [200, '"ok"', "unclear: wrong shape"],
  [200, JSON.stringify(payout), "unclear: wrong shape"],
  [200, JSON.stringify({ success: "true", data: payout }), "unclear: wrong shape"],
  [200, JSON.stringify({ success: 1, data: payout }), "unclear: wrong shape"],
  [200, JSON.stringify({ success: true }), "unclear: wrong shape"],
  [200, JSON.stringify({ success: true, data: null }), "unclear: wrong shape"],
  [200, JSON.stringify({ success: true, data: [payout] }), "unclear: wrong shape"],
  [200, withPayout({ amount: "500" }), "unclear: wrong shape"],
  [200, withPayout({ amount: null }), "unclear: wrong shape"],
  [200, sound.replace("500", "1e999"), "unclear: wrong shape"],
  [200, withPayout({ payoutId: 7 }), "unclear: wrong shape"],
  [200, withPayout({ status: null }), "unclear: wrong shape"],
  [200, withPayout({ merchantRef: undefined }), "unclear: wrong shape"],
  [200, withPayout({ somethingNew: { a: [1] } }), "data"],
  [200, withPayout({ createdAt: null }), "data"],
  [200, withPayout({ status: "Held" }), "data"],
  [301, sound, "unclear: redirect"],
  [304, "", "unclear: redirect"],
  [307, "", "unclear: redirect"],
  [400, '{"message":"no"}', "refused: refused"],
  [400, "", "unclear: empty"],
  [499, "<h1>closed</h1>", "unclear: not JSON"],
  [404, "<h1>no</h1>", "unclear: not JSON"],
  [410, "", "unclear: empty"],
  [400, sound, "unclear: unexpected status"],
  [401, "{}", "refused: access"],
  [403, "<html>", "refused: access"],
  [404, "{}", "refused: unknown id"],
  [407, "{}", "unclear: unexpected status"],
  [408, "{}", "unclear: unexpected status"],
  [409, "{}", "refused: clash"],
  [410, "{}", "refused: unknown id"],
  [422, "{}", "refused: refused"],
  [423, "{}", "refused: busy"],
  [425, "{}", "refused: busy"],
  [429, "{}", "refused: busy"],
  [500, '{"success":false}', "unclear: server error"],
  [502, "<html>", "unclear: server error"],
  [503, sound, "unclear: unexpected status"],
  [504, "", "unclear: server error"],
  [600, "", "unclear: server error"],
  [100, "", "unclear: unexpected status"],
])("%i with %s is %s", (status, body, wanted) => {
  expect(verdict(classify(answer(status, body), { data: created }))).toBe(wanted);
});

test.each(["<h1>No</h1>", "403", "null", '"Forbidden"', "[]", ""])(
  "a refusal that says %j is no word of the service's, which answers with an object",
  (body) => {
    expect(classify(answer(403, body), { data: created })).toMatchObject({ isJson: false });
    expect(classify(answer(403, '{"x":1}'), { data: created })).toMatchObject({ isJson: true });
  },
);

test("a page that nothing is there tells of a read what it tells of nothing else", () => {
  const page = answer(404, "<h1>no</h1>");
  expect(verdict(classify(page, { data: created, isRead: true }))).toBe("refused: unknown id");
});

test.each([
  ["an empty id", { payoutId: "" }],
  ["an id that leads elsewhere", { payoutId: ".." }],
  ["an id that no URL can hold", { payoutId: "\ud800" }],
])("%s names no record, so the outcome is unknown", (_, changes) => {
  expect(verdict(classify(answer(200, withPayout(changes)), { data: created }))).toBe(
    "unclear: wrong shape",
  );
});

test.each<[Exchange, string]>([
  [broken(false), "unsent"],
  [broken(true), "unclear: connection lost"],
  [{ ...broken(true), status: 200 }, "unclear: connection lost"],
])("a broken exchange leaves the outcome unknown only if it was sent (%#)", (exchange, wanted) => {
  expect(verdict(classify(exchange, { data: created }))).toBe(wanted);
});

test.each<[string, unknown]>([
  ["", undefined],
  ["done", "done"],
  ['"done"', "done"],
  ['{"data":{"a":1}}', { a: 1 }],
  ['{"done":true}', { done: true }],
])("where no answer is shown, %j is taken", (body, data) => {
  const judged = classify(answer(200, body), {});
  if (body === "done") expect(judged.kind).toBe("data");
  else expect(judged).toMatchObject({ kind: "data", data });
});

test.each<[string | undefined, string]>([
  ["https://login.example/x", "its target is login.example"],
  ["http://127.0.0.1:1/x", "its target is 127.0.0.1:1"],
  ["//evil.example/x", "its target is evil.example"],
  ["/elsewhere", "its target is another path of the same host"],
  [undefined, "its target is missing"],
])("a redirect to %s says that %s", (location, message) => {
  const judged = classify(answer(302, "", { location }), { data: created });
  expect(judged).toMatchObject({ apiError: { message } });
});

const date = "Fri, 20 Nov 2026 06:00:00 GMT";
test.each<[Headers, object]>([
  [{ date }, {}],
  [{ "retry-after": "7" }, { retryAfterMs: 7_000 }],
  [{ "retry-after": "0" }, { retryAfterMs: 0 }],
  [{ "retry-after": "-7" }, {}],
  [{ "retry-after": "soon" }, {}],
  [{ "retry-after": "1.5" }, {}],
  [{ "retry-after": "07 apples" }, {}],
  [{ date, "retry-after": "Fri, 20 Nov 2026 06:00:30 GMT" }, { retryAfterMs: 30_000 }],
  [{ date, "retry-after": "Fri, 20 Nov 2026 05:00:00 GMT" }, { retryAfterMs: 0 }],
  [
    { date: [date, "x"], "retry-after": ["Fri, 20 Nov 2026 06:00:30 GMT", "x"] },
    { retryAfterMs: 30_000 },
  ],
  [{ date: "yesterday", "retry-after": "Fri, 20 Nov 2026 06:00:30 GMT" }, { retryAfterMs: 0 }],
])("the times in %j", (headers, times) => {
  const judged = classify(answer(429, "{}", headers), { data: created });
  const found = judged.kind === "unsent" ? {} : judged.times;
  expect(found).toEqual(times);
});

test.each<[unknown, { message?: string; code?: string }]>([
  [{ message: "no" }, { message: "no" }],
  [
    { success: false, message: "no", code: "NO" },
    { message: "no", code: "NO" },
  ],
  [{ error: "no" }, { message: "no", code: "no" }],
  [{ error: "it is not so" }, { message: "it is not so" }],
  [{ error: { message: "no", code: 17 } }, { message: "no", code: "17" }],
  [{ errors: [{ message: "a" }, { message: "b" }] }, { message: "a; b" }],
  [{ errors: { amount: ["too small"] } }, { message: "amount: too small" }],
  [{ detail: [{ msg: "no", type: "value_error" }] }, { message: "no" }],
  [
    { title: "Bad", type: "about:blank" },
    { message: "Bad", code: "about:blank" },
  ],
  [{ data: { reason: "no" } }, { message: "no" }],
  [["a", "b"], { message: "a; b" }],
  ["no", { message: "no" }],
  [null, {}],
  [7, {}],
  [{}, {}],
  [{ message: "" }, {}],
  [{ message: null, code: null }, {}],
])("in %j it finds %j", (body, found) => {
  expect(apiErrorIn(body, JSON.stringify(body))).toEqual(found);
});

test.each([
  ["<html><head><title>502 Bad Gateway</title></head><body>x</body></html>", "502 Bad Gateway"],
  ["<h1>No</h1><script>var a = 1</script><p>way</p>", "No way"],
  ["plain words", "plain words"],
  [`${"x".repeat(5_000)}`, `${"x".repeat(4_096)}`],
])("in the page %s it finds %s", (text, message) => {
  expect(apiErrorIn(undefined, text)).toEqual({ message });
});

const status = fc.oneof(
  fc.constantFrom(200, 201, 204, 307, 400, 401, 404, 409, 429, 500),
  fc.nat(999),
);
const text = fc.oneof(fc.string(), fc.constantFrom("date", "retry-after", "location"));
const headers = fc.dictionary(
  text,
  fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(date, "7")),
);

test("any bytes with any status are an answer, and never data that was not all there", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: "binary" }).map((one) => Buffer.from(one)),
    fc.json().map((one) => Buffer.from(one)),
    fc.nat(sound.length).map((length) => Buffer.from(sound.slice(0, length))),
  );
  fc.assert(
    fc.property(status, bytes, headers, (code, given, head) => {
      const judged = classify(
        { kind: "answer", status: code, headers: head, text: new TextDecoder().decode(given) },
        { data: created },
      );
      if (judged.kind !== "data") return true;
      return code >= 200 && code < 300 && Buffer.from(given).toString() === sound;
    }),
    { numRuns: runs(500, 50_000) },
  );
});

test("any JSON error body gives a short message and a plain code, or none", () => {
  const key = fc.constantFrom("message", "error", "errors", "detail", "code", "type", "data", "x");
  const { body } = fc.letrec((tie) => ({
    body: fc.oneof(
      { maxDepth: 8 },
      fc.jsonValue(),
      fc.string({ unit: "binary", maxLength: 500 }),
      fc.array(tie("body"), { maxLength: 6 }),
      fc.dictionary(key, tie("body"), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(fc.integer({ min: 400, max: 599 }), body, (code, value) => {
      const judged = classify(answer(code, JSON.stringify(value) ?? ""), { data: created });
      if (judged.kind !== "refused" && judged.kind !== "unclear") return false;
      const { apiError } = judged;
      const isShort = apiError.message === undefined || apiError.message.length <= 4_096;
      return isShort && (apiError.code === undefined || /^[\w.:+-]{1,64}$/.test(apiError.code));
    }),
    { numRuns: runs(500, 20_000) },
  );
});

function withPayout(changes: object): string {
  return JSON.stringify({ success: true, data: { ...payout, ...changes } });
}

function broken(sent: boolean): Extract<Exchange, { kind: "broken" }> {
  return { kind: "broken", sent, fault: { reason: "connection lost", code: "ECONNRESET" } };
}
