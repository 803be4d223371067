import fc from "fast-check";
import { expect, test } from "vitest";
import type { ServiceRecord } from "../../src/api/contract/index.ts";
import { readPasted } from "../../src/callbacks/pasted.ts";
import { verdicts } from "../../src/callbacks/verdicts.ts";
import { verify } from "../../src/callbacks/verify.ts";

const numRuns = process.env.LENDEN_DEEP ? 50_000 : 1_000;

/** Names and words that mean something, so that much of what is made gets far. */
const name = fc.constantFrom(
  "id",
  "transactionId",
  "refundRequestId",
  "status",
  "amount",
  "data",
  "x",
);
const value = fc.oneof(
  fc.constantFrom(
    "TX1AAAA",
    "RF2BBBB",
    "Completed",
    "paid",
    "Cancelled",
    "100",
    "1e3",
    "__proto__",
  ),
  fc.string({ unit: "binary" }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    value,
    fc.array(tie("tree"), { maxLength: 6 }),
    fc.dictionary(name, tie("tree"), { maxKeys: 6 }),
  ),
}));
const json = tree.map((one) => JSON.stringify(one));
const form = fc
  .array(fc.tuple(name, fc.oneof(value.map(String), json)), { maxLength: 12 })
  .map((pairs) => new URLSearchParams(pairs).toString());
const damaged = fc
  .tuple(json, fc.nat(), fc.string({ unit: "binary" }))
  .map(
    ([text, at, bit]) =>
      text.slice(0, at % (text.length + 1)) + bit + text.slice(at % (text.length + 1)),
  );
const body = fc.oneof(
  fc.uint8Array({ maxLength: 4_096 }),
  fc.oneof(json, form, damaged, fc.string({ unit: "binary" })).map((text) => Buffer.from(text)),
);
const target = fc.oneof(
  fc.constant("/"),
  form.map((text) => `/a/TX1AAAA?${text}`),
  fc.string({ unit: "binary" }),
);
const record: fc.Arbitrary<ServiceRecord | undefined> = fc.option(
  fc.record({
    status: fc.constantFrom("Processing", "Completed", "Cancelled", "Held"),
    amount: fc.oneof(fc.constant(100), fc.double()),
    description: fc.option(fc.string()),
    transactionId: fc.constantFrom("TX1AAAA", "TX3CCCC"),
  }),
  { nil: undefined },
);

test("whatever bytes come: a verdict, no crash, at most eight retrieves of ids that are ids", async () => {
  await fc.assert(
    fc.asyncProperty(target, body, record, async (target, body, record) => {
      const looked: string[] = [];
      const { verdict, because, records } = await verify(
        { target, headers: {}, body },
        async (_, id) => {
          looked.push(id);
          return record;
        },
      );
      expect(verdicts).toContain(verdict);
      expect(looked.length).toBeLessThanOrEqual(8);
      for (const id of looked) expect(id).toMatch(/^(?!\.{1,2}$)[^\s/\\\p{C}]{1,256}$/u);
      expect(because === null).toBe(verdict === "verified");
      // Nothing that claims to be paid passes while the service says otherwise.
      if (verdict === "verified") {
        expect(record).toBeDefined();
        const paid = /^(?:Completed|paid)$/;
        for (const { claimed, verified } of records)
          if (claimed.status && paid.test(claimed.status) && verified)
            expect(verified.status).toBe("Completed");
      }
    }),
    { numRuns },
  );
});

test("whatever text a person hands over can be read as a callback", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), json, form), (text) => {
      for (const written of [text, `POST /${text} HTTP/1.1\r\n\r\n${text}`, `https://a/${text}`])
        expect(readPasted(written).target).toEqual(expect.any(String));
    }),
    { numRuns },
  );
});
