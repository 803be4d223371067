import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { bugs } from "./bugs/index.js";

const root = resolve(import.meta.dirname, "../..");

test.each(bugs)("the tests that have to catch a bug exist: $name", ({ tests }) => {
  const end = tests.includes("-t") ? tests.indexOf("-t") : tests.length;
  const texts = tests.slice(0, end).map((path) => readFileSync(join(root, path), "utf8"));
  expect(texts).not.toEqual([]);
  const pattern = tests[end + 1];
  if (pattern) expect(texts.join()).toContain(pattern);
});
