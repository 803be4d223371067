import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { bugs } from "./bugs/index.js";

const root = resolve(import.meta.dirname, "../..");
const named = bugs.filter(({ tests }) => tests !== undefined);

test.each(named)("the tests that have to catch a bug exist: $name", ({ tests = [] }) => {
  const end = tests.includes("-t") ? tests.indexOf("-t") : tests.length;
  const texts = tests.slice(0, end).map(textOf);
  expect(texts).not.toContain("");
  const pattern = tests[end + 1];
  // A title that must not match is as much a title: ^(?!.*title).
  if (pattern) expect(texts.join()).toContain(pattern.replace(/^\^\(\?!\.\*(.*)\)$/, "$1"));
});

function textOf(path: string): string {
  const whole = join(root, path);
  if (!statSync(whole).isDirectory()) return readFileSync(whole, "utf8");
  const files = readdirSync(whole, { recursive: true, encoding: "utf8" });
  return files.filter((name) => name.endsWith(".test.ts")).join();
}
