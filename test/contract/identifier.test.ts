import fc from "fast-check";
import { expect, test } from "vitest";
import { readAccountNumber, readIdentifier } from "../../src/domain/identifier.ts";
import { runs } from "../runs.ts";

test.each(["TX8F3K2Q", "665f1c2ab8e4", "a", "a.b", "...", "%2e%2e", "আইডি", "x".repeat(256)])(
  "%j is an id",
  (typed) => expect(readIdentifier(typed)).toEqual({ ok: true, value: typed }),
);

test.each([
  "",
  " ",
  ".",
  "..",
  "a/b",
  "../x",
  "a\\b",
  "a b",
  "a\n",
  "a\u0000",
  "\u001b[31m",
  "a\u202eb",
  "a\u200bb",
  "x".repeat(257),
])("%j is no id", (typed) => expect(readIdentifier(typed)).toMatchObject({ ok: false }));

test("an id stays one segment of the path, whatever it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), (typed) => {
      const reading = readIdentifier(typed);
      if (!reading.ok) return true;
      const url = new URL(`https://host.example/v1/pay/${encodeURIComponent(reading.value)}`);
      return url.pathname.split("/").length === 4 && url.search === "" && url.hash === "";
    }),
    { numRuns: runs(300, 100_000) },
  );
});

test.each([
  ["01812345678", "01812345678"],
  ["  01812345678 ", "01812345678"],
  ["+8801812345678", "+8801812345678"],
  ["00012", "00012"],
  ["AC-12/7", "AC-12/7"],
])("the account number %j is sent as %j", (typed, sent) => {
  expect(readAccountNumber(typed)).toEqual({ ok: true, value: sent });
});

test.each([
  "",
  "   ",
  "0181 2345678",
  "\t01812345678",
  "01812345678\n",
  "0181\u00a02345678",
  "0181\u0000",
  "0181\u202e2345678",
  "০১৮১২৩৪৫৬৭৮",
  "0181234567৮",
  "０１８１",
])("the account number %j is refused", (typed) => {
  expect(readAccountNumber(typed)).toMatchObject({ ok: false });
});
