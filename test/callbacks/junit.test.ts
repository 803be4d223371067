import fc from "fast-check";
import { expect, test } from "vitest";
import { junitReport } from "../../src/conformance/junit.ts";
import { runs } from "../support/helpers.ts";

/** The characters that XML 1.0 allows; a line break is kept by its number. */
const allowed = /[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

test("a JUnit report contains any text as text, never as markup", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.constant("<&>\"'\u0000\u001b")),
      (text) => {
        const report = junitReport("a test", [
          { name: "forged", verdict: "failed", explanation: text, details: text },
        ]);
        const [, message = "none"] = /<failure message="([^"<>]*)">/.exec(report) ?? [];
        const read = message.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(+code));
        expect(read).toBe((text.match(allowed) ?? []).join(""));
        expect(message).not.toMatch(/&(?!#\d+;)/);
        expect(report.replace(allowed, "")).toBe("");
      },
    ),
    { numRuns: runs(200, 20_000) },
  );
});
