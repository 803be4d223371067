import fc from "fast-check";
import { expect, test } from "vitest";
import { createScrubber } from "../../src/cli/output/scrub.ts";
import { runs } from "../runs.ts";

function scrubbed(secret: string, text: string): string {
  const { learn, scrub } = createScrubber();
  learn(secret);
  return scrub(text);
}

const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";

test.each([
  ["as it is", key],
  ["in JSON", JSON.stringify({ key })],
  ["in a URL", `https://host.example/?k=${encodeURIComponent(key)}`],
  ["in base64", Buffer.from(key).toString("base64")],
  ["in base64url", Buffer.from(key).toString("base64url")],
  ["in hex", Buffer.from(key).toString("hex")],
  ["several times", `${key}${key} ${key}`],
])("a key %s is masked", (_, text) => {
  const clean = scrubbed(key, `before ${text} after`);
  expect(clean).toContain("sk_sandbox_…XYZ");
  expect(clean).toMatch(/^before .* after$/);
  for (const leak of [key, "ABCDEFGH", encodeURIComponent(key), Buffer.from(key).toString("hex")]) {
    expect(clean).not.toContain(leak);
  }
});

test("what is not a secret stays", () => {
  expect(scrubbed(key, "sk_sandbox_ABC and XYZ")).toBe("sk_sandbox_ABC and XYZ");
  expect(scrubbed("", "nothing")).toBe("nothing");
});

test.each(["payout-secret$&", "payout-secre$&t", "payout-secret$`", "payout-secre$'x"])(
  "the secret %j, whose end means something in a replacement, is masked",
  (secret) => expect(scrubbed(secret, `say ${secret} again`)).not.toContain("payout-secre"),
);

test("no secret comes through, whatever characters it has and however it is written", () => {
  const character = fc.oneof(
    fc.constantFrom(..."$&`'\\\"%+/=<>:_-"),
    fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  );
  const secret = fc.string({ unit: character, minLength: 12, maxLength: 48 });
  fc.assert(
    fc.property(secret, (text) => {
      const written = [
        text,
        JSON.stringify(text),
        encodeURIComponent(text),
        Buffer.from(text).toString("base64"),
        Buffer.from(text).toString("hex"),
      ];
      return written.every(
        (one) => !scrubbed(text, ` ${one} `).includes(one.replaceAll(/^"|"$/g, "")),
      );
    }),
    { numRuns: runs(300, 50_000) },
  );
});
