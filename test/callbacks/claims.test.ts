import fc from "fast-check";
import { expect, test } from "vitest";
import type { ServiceRecord } from "../../src/api/contract/index.ts";
import { verify } from "../../src/callbacks/verify.ts";
import { bracketed, dotted, multipart } from "./forms.ts";

const numRuns = process.env.LENDEN_DEEP ? 20_000 : 300;

/** What the service has: A was paid, B was not, C never will be; R pays back some of A. */
const [A, B, C, R] = ["TX1AAAAA", "TX2BBBBB", "TX3CCCCC", "RF4RRRRR"];
const payments = new Map<string, ServiceRecord>([
  [A, { status: "Completed", amount: 100, description: "tea" }],
  [B, { status: "Processing", amount: 100, description: "tea" }],
  [C, { status: "Cancelled", amount: 100, description: "tea" }],
]);
const refunds = new Map<string, ServiceRecord>([
  [R, { status: "Processing", amount: 40, transactionId: A }],
]);

interface Sent {
  body: string | Uint8Array;
  type?: string;
  query?: string;
  headers?: Record<string, string>;
}

async function verdictOf({ body, type, query = "", headers = {} }: Sent) {
  const sent = {
    target: `/callback${query}`,
    headers: { ...headers, ...(type === undefined ? {} : { "content-type": type }) },
    body: Buffer.from(body),
  };
  const { verdict, because, found } = await verify(sent, async (kind, id) =>
    kind === "payment" ? payments.get(id) : refunds.get(id),
  );
  return { verdict, because, found: found.map(({ statement }) => statement.id) };
}

const form = "application/x-www-form-urlencoded";
const json = "application/json";
const paidB = { transactionId: B, status: "Completed" };

test.each<[string, Sent]>([
  ["multipart", { body: multipart(paidB), type: "multipart/form-data; boundary=x" }],
  ["a form that begins without a name", { body: `=1&transactionId=${B}&status=Completed` }],
  ["a form with a space", { body: `a b=1&transactionId=${B}&status=Completed`, type: form }],
  ["brackets", { body: `data[transactionId]=${B}&data[status]=Completed`, type: form }],
  ["JSON with NaN", { body: `{"transactionId":"${B}","status":"Completed","x":NaN}`, type: json }],
  ["XML", { body: `<transactionId>${B}</transactionId><status>Completed</status>` }],
  ["chunks", { body: `2f\r\n${JSON.stringify(paidB)}\r\n0\r\n\r\n` }],
  ["prose", { body: `${B} was paid: Completed, BDT 90000` }],
  ["YAML", { body: `transactionId: ${B}\nstatus: Completed\n` }],
  ["two lines of JSON", { body: `{}\n${JSON.stringify(paidB)}` }],
  ["JSON and a NUL", { body: `${JSON.stringify(paidB)}\0` }],
  [
    "a body behind a query that says otherwise",
    { body: JSON.stringify(paidB), type: json, query: `?transactionId=${B}&status=Processing` },
  ],
  [
    "the same id twice, with two words",
    { body: JSON.stringify({ ...paidB, status: "Processing", data: paidB }) },
  ],
  [
    "a status further inside",
    { body: JSON.stringify({ ...paidB, status: "Processing", data: { status: "Completed" } }) },
  ],
  ["a status in a list", { body: JSON.stringify({ ...paidB, status: ["Completed"] }) }],
  ["a status in an object", { body: JSON.stringify({ ...paidB, status: { name: "paid" } }) }],
  ["paid: true", { body: `{"transactionId":"${B}","paid":true,"status":"Processing"}` }],
  ["isCompleted=1", { body: `transactionId=${B}&isCompleted=1` }],
  [
    "a name that the service does not know beside the status",
    {
      body: JSON.stringify({ id: "evt_100", status: "Completed", data: { transactionId: B } }),
    },
  ],
  [
    "JSON within a form within JSON",
    {
      body: JSON.stringify({ x: `data=${encodeURIComponent(JSON.stringify(paidB))}` }),
    },
  ],
])("Completed is forged where it is not: %s", async (_, sent) => {
  expect(await verdictOf(sent)).toMatchObject({ verdict: "forged", found: [B] });
});

test.each<[string, Sent]>([
  [
    "JSON that is sent as a form",
    {
      body: `{"transactionId":"${A}","status":"Completed","x":"&transactionId=${B}&status=Completed&y="}`,
      type: form,
    },
  ],
  ["a form that is sent as JSON", { body: `transactionId=${A}&status=Completed`, type: json }],
  ["JSON that is sent as XML", { body: `{"transactionId":"${A}"}`, type: "application/xml" }],
  [
    "a UTF-16 body beside a true query",
    {
      body: Buffer.from(JSON.stringify(paidB), "utf16le"),
      type: `${json}; charset=utf-16le`,
      query: `?transactionId=${A}&status=Completed`,
    },
  ],
  ["another charset", { body: `{"transactionId":"${A}"}`, type: `${json};Charset="UTF-16"` }],
  ["a charset of RFC 2231", { body: `{"transactionId":"${A}"}`, type: `${json};charset*=utf-7''` }],
  ["compressed", { body: `{"transactionId":"${A}"}`, headers: { "content-encoding": "br" } }],
  ["no UTF-8", { body: Buffer.from(`{"transactionId":"${A}","x":"\xff"}`, "latin1") }],
  ["no UTF-8 behind a percent sign", { body: `transactionId=${A}&x=%ff` }],
  ["prose", { body: `payment ${A} is done` }],
  ["a query with a fragment", { body: "", query: `?transactionId=${A}#?transactionId=${B}` }],
  [
    "a query that others split elsewhere",
    { body: "", query: `?transactionId=${A};transactionId=${B}&id=${A}` },
  ],
])(
  "what may be read in another way is never genuine, even where it is true: %s",
  async (_, sent) => {
    expect(await verdictOf(sent)).toMatchObject({ verdict: "unknown" });
  },
);

test.each<[string, Sent]>([
  ["a body of its own", { body: `payment ${A} is done` }],
  ["JSON as a form", { body: `{"transactionId":"${A}"}`, type: form }],
  ["multipart", { body: multipart({ transactionId: A }), type: "multipart/form-data" }],
])("what is not understood whole still tells which record to look at: %s", async (_, sent) => {
  const { found, because } = await verdictOf(sent);
  expect(found).toEqual([A]);
  expect(because).toContain("cannot be compared");
});

test("what claims no status proves nothing of a payment that is not decided", async () => {
  const sent = (id: string) => ({ body: JSON.stringify({ transactionId: id, amount: 100 }) });
  expect(await verdictOf(sent(B))).toMatchObject({
    verdict: "unknown",
    because: "It claims no status, and the service says Processing.",
  });
  for (const id of [A, C]) expect(await verdictOf(sent(id))).toMatchObject({ verdict: "verified" });
});

test("two payments in one callback could be taken for one another", async () => {
  const of = (id: string, status: string) => ({ transactionId: id, status });
  for (const tree of [
    [of(A, "Completed"), of(B, "Processing")],
    { ...of(A, "Completed"), data: of(B, "Processing") },
    { ...of(B, "Processing"), paymentId: A },
  ])
    expect(await verdictOf({ body: JSON.stringify(tree) })).toMatchObject({
      verdict: expect.stringMatching(/mismatched|forged/),
    });
});

test.each<[string, unknown]>([
  ["beside it", { refundRequestId: R, transactionId: A, status: "Processing", amount: 40 }],
  ["without saying which is which", { id: R, paymentId: A, status: "Processing", amount: 40 }],
  [
    "as a whole record",
    {
      refund: { refundRequestId: R, status: "Processing", amount: 40 },
      payment: { transactionId: A, status: "Completed", amount: 100, description: "tea" },
    },
  ],
])("a refund's callback may name its payment %s", async (_, tree) => {
  for (const body of [JSON.stringify(tree), bracketed(tree).join("&")])
    expect(await verdictOf({ body })).toMatchObject({ verdict: "verified" });
});

test("a refund's callback is forged where the refund is said to be Completed, and only the payment is", async () => {
  const tree = { refundRequestId: R, transactionId: A, status: "Completed" };
  expect(await verdictOf({ body: JSON.stringify(tree) })).toMatchObject({ verdict: "forged" });
});

const anyName = fc.constantFrom("data", "payload", "event", "items", "x", "result", "0");
const idName = fc.constantFrom("transactionId", "transaction_id", "trxID", "paymentId", "id");
const completed = fc.oneof(
  fc.tuple(
    fc.constantFrom("status", "Status", "payment_status", "state", "transactionStatus"),
    fc.oneof(
      fc.constantFrom("Completed", "COMPLETED", "success", "paid", "Successful"),
      fc.constant(["Completed"]),
      fc.constant([["paid"], "Processing"]),
      fc.constant({ code: "Completed" }),
    ),
  ),
  fc.tuple(
    fc.constantFrom("paid", "isPaid", "completed", "is_completed"),
    fc.constantFrom(true, 1),
  ),
);
const noise = fc.dictionary(
  fc.constantFrom("note", "eventId", "version", "currency", "at"),
  fc.constantFrom("evt_100", "BDT", "2026-11-20T10:00:00Z", 7, null, true, "x"),
);

/** Puts a tree somewhere inside objects and lists, with other things around it. */
function nested(tree: fc.Arbitrary<object>): fc.Arbitrary<object> {
  const layer = fc.tuple(fc.option(anyName), noise);
  return fc
    .tuple(tree, fc.array(layer, { maxLength: 4 }))
    .map(([core, layers]) =>
      layers.reduce<object>(
        (inner, [name, around]) => (name === null ? [inner] : { ...around, [name]: inner }),
        core,
      ),
    );
}

const written = (tree: object): fc.Arbitrary<Sent> =>
  fc.constantFrom<Sent>(
    { body: JSON.stringify(tree), type: json },
    { body: JSON.stringify(tree, null, 2) },
    { body: JSON.stringify(JSON.stringify(tree)) },
    { body: bracketed(tree).join("&"), type: form },
    { body: dotted(tree).join("&"), type: form },
    { body: `payload=${encodeURIComponent(JSON.stringify(tree))}`, type: form },
    { body: "", query: `?${bracketed(tree).join("&")}` },
  );

test("whatever nesting or shape a claim of Completed has, it makes nothing genuine that is not", async () => {
  const id = fc.constantFrom(B, C);
  const named = fc.tuple(idName, id, fc.boolean()).map(([name, one, isHonestToo]) => ({
    [name]: one,
    ...(isHonestToo ? { status: one === B ? "Processing" : "Cancelled" } : {}),
  }));
  const claim = completed.map(([name, value]) => ({ [name]: value }));
  const sent = fc
    .tuple(nested(named), nested(claim), fc.constantFrom("together", "apart", "first", "query"))
    .chain(([record, lie, where]) => {
      if (where === "query")
        return written(record).map((one) => ({ ...one, query: `?${bracketed(lie).join("&")}` }));
      const isDisjoint = Object.keys(lie).every((name) => !(name in record));
      if (where === "together" && isDisjoint) return written({ ...lie, ...record });
      return written(where === "first" ? [lie, record] : { a: record, b: { c: lie } });
    });
  await fc.assert(
    fc.asyncProperty(sent, async (one) => {
      const { verdict } = await verdictOf(one);
      expect(verdict).not.toBe("verified");
    }),
    { numRuns },
  );
});

test("an honest callback is genuine in whatever nesting, as JSON or as a form", async () => {
  const honest = fc
    .tuple(idName, fc.constantFrom(A, B, C), fc.subarray(["amount", "description"] as const))
    .map(([name, id, told]) => {
      const record = payments.get(id);
      const more = told.map((field) => [field, record?.[field]]);
      return { [name]: id, status: record?.status, ...Object.fromEntries(more) };
    });
  await fc.assert(
    fc.asyncProperty(nested(honest).chain(written), async (one) => {
      expect(await verdictOf(one)).toMatchObject({ verdict: "verified", because: null });
    }),
    { numRuns },
  );
});

const paidA = { transactionId: A, status: "Completed" };
const processingB = { transactionId: B, status: "Processing" };
const withNul = (name: string) => encodeURIComponent(`${name}\0x`);

test.each<[string, object | string]>([
  ["an amount in an object", { ...paidA, amount: { value: 500, currency: "BDT" } }],
  ["an amount in a form's tree", `transactionId=${A}&status=Completed&amount[value]=500`],
  ["an amount in Bangla digits", { ...paidA, amount: "৫০০" }],
  ["an amount without end", `{"transactionId":"${A}","status":"Completed","amount":1e400}`],
  ["an amount of other names", { ...paidA, amount: 100, paid_amount: 500 }],
  ["a total", { ...paidA, total: 500 }],
  [
    "a name that some read up to its NUL",
    `transactionId=${A}&status=Completed&${withNul("transactionId")}=${B}`,
  ],
  ["a name of two scripts", { ...processingB, ѕtatus: "Completed" }],
  ["a name in wide letters", { ...processingB, ｓｔａｔｕｓ: "Completed" }],
  [
    "a list of names and values",
    { ...processingB, fields: [{ name: "status", value: "Completed" }] },
  ],
  ["several ids", { ...paidA, transactionIds: [B] }],
  ["an event that says so", { ...processingB, event: "payment.completed" }],
  ["a result that says so", { ...processingB, result: "Completed" }],
])("%s is nothing genuine where the service has it otherwise", async (_, sent) => {
  const isForm = typeof sent === "string" && !sent.startsWith("{");
  const body = typeof sent === "string" ? sent : JSON.stringify(sent);
  expect((await verdictOf({ body, type: isForm ? form : json })).verdict).not.toBe("verified");
});

test.each([
  { ...paidA, amount: { value: 100, currency: "BDT" } },
  { ...paidA, total: 100 },
  { ...paidA, fields: [{ name: "amount", value: "100" }] },
  { ...paidA, trxID: "9AB12CD34E" },
  { ...paidA, event: "payment.completed" },
  { ...paidA, গ্রাহক: "রহিমা" },
])("%j is genuine", async (sent) => {
  expect(await verdictOf({ body: JSON.stringify(sent), type: json })).toMatchObject({
    verdict: "verified",
  });
});
