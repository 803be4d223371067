import { expect, test } from "vitest";
import { isLoopback, parseUrl, readUrl } from "../../src/domain/url.ts";

test.each([
  "https://shop.example/thanks",
  "https://shop.example",
  "http://localhost:3000/return",
  "http://127.0.0.1/x",
  "http://127.8.9.1:80/x",
  "http://[::1]:8080/",
])("%j is an address, kept as it was typed", (typed) => {
  expect(readUrl(typed)).toEqual({ ok: true, value: typed });
});

test.each([
  "http://shop.example/thanks",
  "http://localhost.example/",
  "http://127.0.0.1.example/",
  "http://0.0.0.0/",
  "http://192.168.1.2/",
])("%j is refused: outside this machine it must be https:", (typed) => {
  const reading = readUrl(typed);
  expect(reading.ok ? "" : reading.problem).toContain("begins with https:");
});

test.each([
  "",
  "shop.example/thanks",
  "//shop.example",
  "ftp://shop.example/",
  "javascript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "https://",
  "https:// shop.example/",
])("%j is no web address", (typed) => {
  expect(readUrl(typed)).toMatchObject({ ok: false });
});

test.each([
  " https://shop.example/thanks",
  "https://shop.example/thanks\n",
  "https://shop.exa\tmple/thanks",
  "\u0000https://shop.example/",
])("%j is refused: it would be sent with the space or control character inside", (typed) => {
  expect(readUrl(typed)).toMatchObject({ ok: false });
});

test("loopback is this machine by name or number, and nothing that only looks like it", () => {
  const loopback = (text: string) => isLoopback(parseUrl(text) ?? new URL("https://no.example"));
  for (const text of ["http://LOCALHOST", "http://127.1", "http://2130706433", "http://[0:0::1]"]) {
    expect([text, loopback(text)]).toEqual([text, true]);
  }
  for (const text of ["http://localhost.example", "http://127.0.0.1.nip.io", "http://[::2]"]) {
    expect([text, loopback(text)]).toEqual([text, false]);
  }
});
