import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lenden } from "../support/lenden.ts";

const read = (path: string) => readFileSync(path, "utf8").replace(/\\-/g, "-");
const help = async (...args: string[]) =>
  (await lenden(args)).stdout.replace(/\n(?! )/g, " ").replace(/\s+/g, " ");

const promise = "Running the same command twice does not pay twice";

describe("the promise about repeated commands", () => {
  test.each<[string, () => string | Promise<string>]>([
    ["README", () => read("README.md")],
    ["the manual", () => read("man/lenden.1")],
    ["help money-safety", () => help("help", "money-safety")],
  ])("comes with its conditions in %s", async (_, text) => {
    const found = await text();
    expect(found).toContain(promise);
    for (const condition of [
      "payout send --ref",
      "24 hours",
      "--again sends a second one",
      "The batch resumes",
      "the ledger of this machine",
    ]) {
      expect(found.replaceAll("`", "")).toContain(condition);
    }
  });

  test("leads from the root help to its conditions", async () => {
    const found = await help();
    expect(found).toContain(`${promise}: the same --ref shows the existing payout.`);
    expect(found).toContain("All conditions: 'lenden help money-safety'.");
  });

  test("is tied to the reference in package.json", () => {
    const { description } = JSON.parse(read("package.json"));
    expect(description).toBe(
      "Collect payments, send payouts and issue refunds in BDT. A payout with a reference (--ref) is safe to retry: it is paid once.",
    );
  });

  test.each(["README.md", "package.json", "man/lenden.1"])(
    "is made nowhere without a condition: %s",
    (path) => {
      expect(read(path)).not.toMatch(
        /\b(?:any|no)(?:body|one)(?: is paid)? twice|line, run twice/i,
      );
    },
  );
});
