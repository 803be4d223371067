import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAccountNumber, readIdentifier } from "../../src/domain/identifier.ts";
import { formatAmount, formatPaisa } from "../../src/domain/money.ts";
import { readReference } from "../../src/domain/reference.ts";
import type { Result } from "../../src/domain/result.ts";
import { readTimestamp } from "../../src/domain/timestamp.ts";
import { isLoopback, parseUrl, readUrl } from "../../src/domain/url.ts";
import { runs } from "../support/helpers.ts";

const hostile = ["", " ", "a b", "a\n", "a\u0000", "\u001b[31m", "a\u202eb", "a\u200bb"];
const problemOf = (reading: Result<unknown>) => (reading.ok ? "" : reading.problem);

describe("an ID", () => {
  test("is any text that can be one segment of a path", () => {
    for (const id of ["TX8F3K2Q", "665f1c2ab8e4", "a.b", "...", "%2e%2e", "আইডি", "x".repeat(256)])
      expect(readIdentifier(id)).toEqual({ ok: true, value: id });
    for (const text of [...hostile, ".", "..", "a/b", "../x", "a\\b", "x".repeat(257)])
      expect([text, readIdentifier(text).ok]).toEqual([text, false]);
  });

  test("stays one segment of the path, whatever it is", () => {
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
});

test("an account number is sent as typed, after trimming ASCII space", () => {
  for (const [typed, sent] of [
    ["  01812345678 ", "01812345678"],
    ["+8801812345678", "+8801812345678"],
    ["00012", "00012"],
    ["AC-12/7", "AC-12/7"],
  ] as const)
    expect(readAccountNumber(typed)).toEqual({ ok: true, value: sent });
  const wrong = ["0181 2345678", "\t0181", "0181\u00a02345678", "০১৮১", "0181234567৮", "０１８１"];
  for (const text of [...hostile, ...wrong])
    expect([text, readAccountNumber(text).ok]).toEqual([text, false]);
});

describe("a reference", () => {
  test("has 1 to 64 letters, digits, - and _, and never a colon", () => {
    for (const text of ["a", "INV-7", "LD-01JD2M3N4P5Q6R7S8T9VWXYZ01", "_", "x".repeat(64)])
      expect(readReference(text)).toEqual({ ok: true, value: text });
    for (const text of [...hostile, "INV.7", "INV/7", "ইনভ-৭", "é", "x".repeat(65)])
      expect([text, readReference(text).ok]).toEqual([text, false]);
    for (const text of [":", "INV:7", "500:INV-7", "INV-7:"])
      expect(problemOf(readReference(text))).toContain("colon");
    expect(problemOf(readReference("INV\u200b7"))).toContain("invisible");
  });

  test("contains nothing that the signed message is split at", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[A-Za-z0-9_:. -]{0,70}$/)),
        (typed) => readReference(typed).ok === /^(?!-)[A-Za-z0-9_-]{1,64}$/.test(typed),
      ),
      { numRuns: runs(300, 100_000) },
    );
  });
});

test("a timestamp is Unix time in seconds", () => {
  for (const text of ["1763614800", "100000000", "9999999999"])
    expect(readTimestamp(text)).toEqual({ ok: true, value: Number(text) });
  expect(problemOf(readTimestamp("1763614800123"))).toContain("Did you mean 1763614800?");
  const wrong = ["0", "now", "-1763614800", "01763614800", "1763614800.5", "1.7e9", "১৭৬৩৬১৪৮০০"];
  for (const text of [...hostile, ...wrong, "1763614800\n", "2026-11-20T04:30:00Z"])
    expect([text, readTimestamp(text).ok]).toEqual([text, false]);
});

describe("a URL", () => {
  test("is https:, or http: on this machine, and is sent as typed", () => {
    for (const text of [
      "https://shop.example/thanks",
      "http://localhost:3000/return",
      "http://127.8.9.1:80/x",
      "http://[::1]:8080/",
    ])
      expect(readUrl(text)).toEqual({ ok: true, value: text });
    for (const host of ["shop.example", "localhost.example", "127.0.0.1.example", "0.0.0.0"])
      expect(problemOf(readUrl(`http://${host}/`))).toContain("https:");
    for (const text of [
      ...["shop.example/thanks", "//shop.example", "ftp://shop.example/", "javascript:alert(1)"],
      ...["data:text/html,x", "file:///etc/passwd", "https://", "https:// shop.example/"],
      ...[" https://shop.example", "https://shop.example\n", "https://shop.exa\tmple/"],
    ])
      expect([text, readUrl(text).ok]).toEqual([text, false]);
  });

  test("is shown in an error unless it may contain a secret", () => {
    for (const text of ["htp://shop.example/a", "shop.example", "localhost:3000"])
      expect(problemOf(readUrl(text))).toContain(`"${text}" is not a valid URL.`);
    const hidden = fc.oneof(
      fc.string().map((text) => `ftp://user:${text}@shop.example`),
      fc.string().map((text) => `ftp://shop.example/?token=${text}`),
      fc.stringMatching(/^[A-Za-z0-9_-]{4,64}$/),
      fc.stringMatching(/^ftp:\/\/(?:sk_sandbox_|public-)[A-Z0-9-]{4,30}$/),
    );
    fc.assert(
      fc.property(hidden, (text) => {
        expect(problemOf(readUrl(text))).toContain("The value is not a valid URL.");
      }),
    );
  });

  test("is of this machine by name or number, not by similarity", () => {
    const loopback = (text: string) => isLoopback(parseUrl(text) ?? new URL("https://no.example"));
    for (const text of ["http://LOCALHOST", "http://127.1", "http://2130706433", "http://[0:0::1]"])
      expect([text, loopback(text)]).toEqual([text, true]);
    for (const text of ["http://localhost.example", "http://127.0.0.1.nip.io", "http://[::2]"])
      expect([text, loopback(text)]).toEqual([text, false]);
  });
});

describe("an amount in output", () => {
  test.each([
    [1n, "BDT 0.01"],
    [99_900n, "BDT 999.00"],
    [100_000n, "BDT 1,000.00"],
    [12_500_050n, "BDT 1,25,000.50"],
    [99_999_999_999_999n, "BDT 9,99,99,99,99,999.99"],
  ])("%s paisa are %s", (amountPaisa, shown) => expect(formatPaisa(amountPaisa)).toBe(shown));

  test("keeps its digits: groups of three, then of two", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 99_999_999_999_999n }), (amountPaisa) => {
        const shown = formatPaisa(amountPaisa);
        return (
          /^BDT (?:\d{1,3}|\d{1,2}(?:,\d{2})*,\d{3})\.\d{2}$/.test(shown) &&
          BigInt(shown.replace(/\D/g, "")) === amountPaisa
        );
      }),
      { numRuns: runs(500, 500_000) },
    );
  });

  test("of the API is shown as it is if it is not exact", () => {
    for (const [amount, shown] of [
      [1250.5, "BDT 1,250.50"],
      [500.005, "BDT 500.005"],
      [-5, "BDT -5"],
      [1e21, "BDT 1e+21"],
    ] as const)
      expect(formatAmount(amount)).toBe(shown);
  });
});
