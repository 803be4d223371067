import { Writable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createReporter, type ProgressLine } from "../../src/cli/terminal/reporter.ts";

/** What a terminal of some columns shows in the end. */
function drawn(
  line: ProgressLine,
  columns: number,
  options = { quiet: false, isJson: false },
): string {
  let text = "";
  const stderr = Object.assign(
    new Writable({
      write: (chunk, _, done) => {
        text += String(chunk);
        done();
      },
    }),
    { isTTY: true, columns },
  );
  const globals = { ...noGlobals, quiet: options.quiet };
  const host = { stderr, env: {}, sleep: () => new Promise<void>(() => {}) };
  const { isJson } = options;
  const reporter = createReporter(host, globals, { scrub: (one) => one, isJson });
  reporter.attend(); // as for a prompt before it
  reporter.progress(() => line).close();
  return text.replace("\r\u001b[K", "").trimEnd();
}

const noGlobals = {
  profile: undefined,
  baseUrl: undefined,
  format: undefined,
  quiet: false,
  yes: false,
  noInput: false,
  timeoutMs: undefined,
  color: undefined,
  verbose: false,
};
const parts = ["840 of 2000 rows", "3 rejected", "BDT 4,200.00 of BDT 9,000.00", "1 min 2 s left"];

test("any progress is whole parts in one line, and its bar is full at the end only", () => {
  const line = fc.record({
    parts: fc.array(fc.stringMatching(/^[a-z0-9 ]{1,30}$/), { maxLength: 8 }),
    done: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(line, fc.integer({ min: 10, max: 200 }), ({ parts, done }, columns) => {
      const shown = drawn({ parts, done }, columns);
      expect(shown.length).toBeLessThan(columns);
      const text = shown.replace(/^[█░]+ ?/, "");
      const beginnings = [...parts, ""].map((_, count) => parts.slice(0, count).join(" · "));
      expect(beginnings.map((one) => one.trimEnd())).toContain(text);
      if (done < 1 && /[█░]/.test(shown)) expect(shown).toContain("░");
    }),
  );
});

test.each([
  { quiet: true, isJson: false },
  { quiet: false, isJson: true },
])("progress is not shown with %j", (options) => {
  expect(drawn({ parts, done: 0.42 }, 120, options)).toBe("");
});
