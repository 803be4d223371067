import { expect, test, vi } from "vitest";
import { type CaseName, caseNames } from "../../src/callbacks/trial/names.ts";
import { type AtEnd, type Merchant, openMerchant } from "../merchant.ts";
import type { Outcome } from "../run.ts";
import { openShop } from "../shops/running.ts";

// All of them at once: each has a process of its own, and mostly waits.
vi.setConfig({ testTimeout: 60_000 });

/** What each of the shops falls for; test/shops has them. */
const falls: Record<string, CaseName[]> = {
  "right.js": [],
  "wrong.js": [
    ...(["forged-id", "forged-status", "wrong-amount", "other-order", "replay"] as const),
    ...(["duplicates", "out-of-order", "then-cancelled", "huge-body"] as const),
  ],
  "half-wrong.js goes on where the service knows nothing": ["forged-id"],
  "half-wrong.js takes the status from the callback": ["forged-status"],
  "half-wrong.js does not look at the status": ["forged-status", "unknown-status"],
  "half-wrong.js does not compare the amount": ["wrong-amount"],
  "half-wrong.js takes the order from the callback": ["other-order"],
  "half-wrong.js takes the order from its address": ["other-order"],
  "half-wrong.js books every time": ["replay", "duplicates", "out-of-order", "then-cancelled"],
  "half-wrong.js looks, waits, and books": ["duplicates"],
  "half-wrong.js undoes what is paid": ["out-of-order", "then-cancelled"],
  "half-wrong.js breaks at unknown words": ["unknown-status"],
  "half-wrong.js reads everything": ["huge-body"],
};

// Those that are half wrong are tried with everything in the long tests alone.
for (const [shop, failed] of Object.entries(falls)) {
  const isWhole = process.env.LENDEN_DEEP !== undefined || !shop.startsWith("half");
  const names = isWhole
    ? caseNames
    : caseNames.filter((name) => ["genuine", ...failed].includes(name));
  test.concurrent(`${shop} falls for ${failed.join(", ") || "nothing"}`, async ({
    onTestFinished,
  }) => {
    const { code, all } = await tried(shop, [...only(names), "--settle", "1ms"], onTestFinished);
    expect(all.map((one) => one.case)).toEqual(names);
    expect(all.filter(({ verdict }) => verdict !== "passed").map((one) => one.case)).toEqual(
      failed,
    );
    for (const { verdict, todo } of all) expect(todo !== null).toBe(verdict === "failed");
    expect(code).toBe(failed.length > 0 ? 11 : 0);
  });
}

test.concurrent("a shop may ask the service after its answer, within the time of --settle", async ({
  onTestFinished,
}) => {
  const flags = ["--only", "forged-status", "--settle", "1s"];
  const shop = "half-wrong.js asks after its answer";
  expect(await tried(shop, flags, onTestFinished)).toMatchObject({
    code: 0,
    all: [{ booked: 500 }, { booked: 0, asked: 1 }],
  });
});

test.concurrent("a shop that one slow sender holds up falls for slow bodies", async ({
  onTestFinished,
}) => {
  const flags = ["--only", "slow-body", "--settle", "1ms", "--answer-within", "3s"];
  const shop = "half-wrong.js reads one body at a time";
  expect(verdicts(await tried(shop, flags, onTestFinished))).toEqual({
    genuine: "passed",
    "slow-body": "failed",
  });
});

test.concurrent("so does one that dies of a body which breaks off", async ({ onTestFinished }) => {
  const flags = ["--only", "slow-body", "--settle", "300ms"];
  const shop = "half-wrong.js dies of a body that breaks off";
  const { code, all } = await tried(shop, flags, onTestFinished);
  expect([code, all[1]?.verdict]).toEqual([11, "failed"]);
  expect(all[1]?.answers.map(({ status }) => status)).toEqual([200, null]);
});

test.concurrent("to refuse everything is no pass", async ({ onTestFinished }) => {
  const names = ["forged-id", "replay", "unknown-status"] as const;
  const flags = [...only(names), "--settle", "1ms"];
  expect(verdicts(await tried("half-wrong.js refuses everything", flags, onTestFinished))).toEqual({
    genuine: "failed",
    ...each(names, "undecided"),
  });
});

test.concurrent("without the shop's book nothing passes that was not seen", async ({
  onTestFinished,
}) => {
  const names = ["forged-id", "forged-status", "replay", "unknown-status"] as const;
  const flags = [...only(names), "--settle", "1ms"];
  const watched = async (shop: string) =>
    verdicts(await tried(shop, flags, onTestFinished, { isBookSeen: false }));
  expect(await watched("half-wrong.js knows no orders beforehand")).toEqual({
    ...each(["genuine", ...names], "passed"),
    replay: "undecided",
  });
  expect(await watched("half-wrong.js trusts who was right once")).toEqual({
    genuine: "passed",
    ...each(["forged-id", "forged-status"], "failed"),
    ...each(["replay", "unknown-status"], "undecided"),
  });
  // It may be asking later, or another service: not to have asked shows nothing of such a shop.
  expect(await watched("wrong.js")).toEqual(each(["genuine", ...names], "undecided"));
  expect(await watched("right.js")).toEqual({ genuine: "failed", ...each(names, "undecided") });
});

test("what is sent, answered, asked and booked is told, and the payments are the sandbox's own", async ({
  onTestFinished,
}) => {
  const merchant = await openMerchant({}, onTestFinished);
  const shop = await openShop(["right.js"], merchant.env, onTestFinished);
  const line = ["callback", "test", shop.callback, "--orders", shop.orders];
  line.push("--only", "other-order", "--settle", "1ms");
  const { stdout, stderr } = await merchant.lenden([...line, "--json"]);
  const payments = await merchant.books("payments");
  expect(stderr).toBe("");
  expect(payments).toHaveLength(3);
  expect(JSON.parse(stdout)).toEqual([
    {
      case: "genuine",
      sent: expect.any(String),
      transactionId: payments[0]?.id,
      answers: [{ status: 200, fault: null }],
      asked: 1,
      booked: 500,
      verdict: "passed",
      because: "It booked BDT 500.00.",
      todo: null,
    },
    expect.objectContaining({ case: "other-order", transactionId: payments[1]?.id, booked: 0 }),
  ]);
  const shown = await merchant.lenden(line);
  expect(shown.stdout).toMatch(/^passed {4}genuine +Sent the callback of .* Answered 200; /);
});

test("a sandbox that completes payments by itself decides nothing", async ({ onTestFinished }) => {
  const flags = ["--only", "forged-status", "--settle", "50ms"];
  const options = { autoCompleteMs: 1 };
  const { code, all } = await tried("right.js", flags, onTestFinished, { options });
  expect([code, all[1]?.verdict]).toEqual([11, "undecided"]);
  expect(all[1]?.because).toContain("--auto-complete");
});

interface Tried {
  case: CaseName;
  verdict: string;
  because: string;
  answers: { status: number | null }[];
  asked: number;
  booked: number | null;
  todo: string | null;
}

interface Trial extends Outcome {
  all: Tried[];
}

/** Tries a shop of test/shops, with a sandbox of its own. */
async function tried(
  shop: string,
  flags: string[],
  atEnd: AtEnd,
  { isBookSeen = true, options = {} }: { isBookSeen?: boolean; options?: object } = {},
): Promise<Trial> {
  const merchant: Merchant = await openMerchant(options, atEnd);
  const [, file = "", fault = ""] = /^(\S+) ?(.*)$/.exec(shop) ?? [];
  const { callback, orders } = await openShop([file, fault], merchant.env, atEnd);
  const book = isBookSeen ? ["--orders", orders] : [];
  const line = ["callback", "test", `${callback}?order={order}`, ...book, ...flags, "--json"];
  const outcome = await merchant.lenden(line);
  return { ...outcome, all: JSON.parse(outcome.stdout || "[]") };
}

function verdicts({ all }: Trial): Record<string, string> {
  return Object.fromEntries(all.map((one) => [one.case, one.verdict]));
}

function only(names: readonly CaseName[]): string[] {
  return names.flatMap((name) => ["--only", name]);
}

function each(names: readonly string[], verdict: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, verdict]));
}
