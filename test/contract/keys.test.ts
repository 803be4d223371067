import fc from "fast-check";
import { expect, test } from "vitest";
import { masked, readApiKey, readPayoutSecret } from "../../src/domain/api-keys.ts";
import { runs } from "../support/helpers.ts";

test.each([
  ["sk_sandbox_ABC-ABCDEFGHIJKL-XYZ", "sandbox"],
  ["sk_sandbox_x", "sandbox"],
  ["public-ABC-ABCDEFGHIJKL-XYZ", "production"],
])("%s is a key for %s", (text, environment) => {
  expect(readApiKey(text)).toEqual({ ok: true, value: { text, environment } });
});

test.each(["", "sk_live_ABC", "SK_SANDBOX_ABC", "Public-ABC", " sk_sandbox_ABC", "xpublic-ABC"])(
  "%j is no key",
  (text) => expect(readApiKey(text)).toMatchObject({ ok: false }),
);

test.each(["sk_sandbox_A B", "public-A\r\nx-evil: 1", "public-\u0000", "public-é", "public-A\n"])(
  "%j would not be one header, and is not repeated in the refusal",
  (text) => {
    const reading = readApiKey(text);
    expect(reading.ok ? "" : reading.problem).toContain("Copy it again");
    expect(JSON.stringify(reading)).not.toContain(text.slice(7));
  },
);

test("a payout secret is one line of visible text", () => {
  for (const secret of ["s", "vgjR_gt-virx", "p@ss:w/rd+=$&", "গোপন"]) {
    expect(readPayoutSecret(secret)).toEqual({ ok: true, value: secret });
  }
  for (const secret of ["", " a", "a\nb", "a\u0000", "a\u200b", "x".repeat(513)]) {
    expect(readPayoutSecret(secret)).toMatchObject({ ok: false });
  }
});

test("a key needs its prefix, and not the documented shape", () => {
  expect(readApiKey("public-of-another-shape").ok).toBe(true);
});

test.each([
  ["sk_sandbox_ABC-ABCDEFGHIJKL-XYZ", "sk_sandbox_…XYZ"],
  ["public-ABC-ABCDEFGHIJKL-XYZ", "public-…XYZ"],
  ["public-short", "public-…"],
  ["a payout secret", "…ret"],
  ["secret", "…"],
  ["", "…"],
])("%j is shown as %j", (secret, shown) => expect(masked(secret)).toBe(shown));

test("of a secret never more than its public prefix and three characters are shown", () => {
  const secret = fc.stringMatching(/^(?:sk_sandbox_|public-)?[A-Za-z0-9-]{0,40}$/);
  fc.assert(
    fc.property(secret, (text) => {
      const [prefix = "", tail = ""] = masked(text).split("…");
      const isTail = tail === "" || (tail.length === 3 && text.endsWith(tail));
      return ["", "sk_sandbox_", "public-"].includes(prefix) && isTail;
    }),
    { numRuns: runs(300, 50_000) },
  );
});
