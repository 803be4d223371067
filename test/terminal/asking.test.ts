import { parseArgsStringToArgv } from "string-argv";
import { expect } from "vitest";
import { openMerchant, paymentOf, refundOf } from "../merchant.ts";
import { answerAll, openShop } from "./shop.ts";
import { openTerminal, terminalTest } from "./terminal.ts";

const account = {
  LENDEN_BASE_URL: "http://127.0.0.1:9/cp/api/v1",
  LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-abc",
};

terminalTest("pay create asks for what is missing, each by its own check", async () => {
  const shop = await openShop();
  const terminal = await shop.open(["pay", "create"], { rows: 40 });
  await terminal.answer("The amount in taka", "0");
  await terminal.shows("The amount must be above zero.");
  await terminal.press("C-u");
  await terminal.answer("The amount in taka", "12");
  await terminal.answer("What it is for", "");
  await terminal.answer("This is empty", "-5 'off'");
  await terminal.shows("Which method?");
  await terminal.press("Down", "Enter");
  await terminal.answer("Create a payment?", "y");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(await shop.books("payments")).toContainEqual(
    expect.objectContaining({ description: "-5 'off'" }),
  );
  await expect(`${screen.replace(/:\d{4,5}\//, ":PORT/")}\n`).toMatchFileSnapshot(
    "__snapshots__/pay-create.txt",
  );
});

terminalTest(
  "payout send makes the reference first: its line, run again, is the same payout",
  async () => {
    const merchant = await openMerchant();
    const terminal = await openTerminal(["payout", "send"], { env: merchant.env, rows: 40 });
    await answerAll(terminal, [
      ["The amount in taka", "500"],
      ["The recipient's mobile number", "1712345678"],
    ]);
    await terminal.shows("a leading zero was lost");
    await terminal.press("C-u");
    await answerAll(terminal, [
      ["The recipient's mobile number", "+880 1712-345678"],
      ["Which method?", ""],
      ["Reference: (LD-", ""],
      ["Send a payout?", "y"],
    ]);
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    const [, line = "", reference] =
      /lenden (payout send .* --ref (LD-\w{26}))\n/.exec(screen) ?? [];
    expect(line).toContain("--amount 500 --to '+880 1712-345678' --method bkash");
    const again = await merchant.json(parseArgsStringToArgv(line));
    expect(again).toMatchObject({ merchantRef: reference, existing: true });
    expect(await merchant.books("payouts")).toHaveLength(1);
  },
);

terminalTest("refund cancel shows the refund, and refuses one that has ended", async () => {
  const shop = await openShop();
  const ended = await shop.id(refundOf(shop.order42, "30"));
  await shop.set("refund", ended, "Completed");
  const open = await shop.id(refundOf(shop.order42, "40"));
  const terminal = await shop.open(["refund", "cancel"], { rows: 40 });
  await terminal.answer("Which refund?", ended);
  await terminal.answer(/already Completed.\n\? Which refund\?/, "40.00");
  await terminal.answer("Note", "kept it");
  await terminal.answer("Cancel a refund?", "y");
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain(`lenden refund cancel --note 'kept it' ${open}\n`);
  expect(await shop.books("refunds")).toMatchObject([
    { id: ended, status: "Completed" },
    { id: open, status: "Cancelled" },
  ]);
});

terminalTest(
  "a payment is found by words, amount, id, date and status, in Bangla too",
  async () => {
    const shop = await openShop();
    const unpaid = await shop.id(paymentOf("দুই শাড়ি"));
    const terminal = await shop.open(["pay", "get"], { rows: 40 });
    await terminal.shows("Which payment?");
    for (const [typed, found] of [
      ["SHIRTS order", shop.order42],
      ["1250.5", shop.order42],
      ["1,250", shop.order42],
      [shop.order43.slice(2, 9).toLowerCase(), shop.order43],
      ["শাড়ি", unpaid],
      ["100.00 processing", unpaid],
      ["20 nov two", shop.order42],
    ] as const) {
      await terminal.type(typed);
      await terminal.shows(new RegExp(`${typed}\n❯ ${found}`));
      await terminal.press("C-u");
      await terminal.shows(/payment\?\n❯ TX.*\n {2}TX.*\n {2}TX/);
    }
    await terminal.press("C-c");
    expect((await terminal.ended()).code).toBe(130);
  },
);

terminalTest(
  "what Enter takes stands on the screen: text and Enter that arrive at once are safe",
  async () => {
    const shop = await openShop();
    const terminal = await shop.open(["pay", "get", "-q"], { rows: 40 });
    await terminal.shows("Which payment?");
    await terminal.type("42,\r");
    expect((await terminal.ended()).screen).toContain(`✔ Which payment? ${shop.order42}`);
  },
);

terminalTest(
  "the arrows choose, a tab does nothing, and nothing that fits takes nothing",
  async () => {
    const shop = await openShop();
    const terminal = await shop.open(["pay", "get", "-q"]);
    await terminal.shows(`❯ ${shop.order43}`);
    await terminal.type("no such");
    await terminal.press("Enter", "Tab");
    await terminal.shows("Nothing fits");
    await terminal.press("C-u", "Up", "Down", "Down", "Down");
    await terminal.shows(`❯ ${shop.order42}`);
    await terminal.press("Enter");
    expect((await terminal.ended()).screen).toContain(`✔ Which payment? ${shop.order42}`);
  },
);

terminalTest("without anything in the ledger an id is typed", async () => {
  const { baseUrl, apiKey } = await openShop();
  const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: apiKey };
  const terminal = await openTerminal(["refund", "get"], { env });
  await terminal.answer("The id that 'lenden refund create' printed", "a/b");
  await terminal.answer("An id is one word", "");
  await terminal.press("C-u");
  await terminal.answer("The id that", "RF1");
  expect((await terminal.ended()).code).toBe(9);
});

terminalTest.each([
  ["what was typed is wrong", ["refund", "create", "--amount", "x"], {}],
  ["--no-input is given", ["refund", "create", "--no-input"], {}],
  ["CI is set", ["refund", "create"], { CI: "true" }],
  ["the terminal cannot draw", ["refund", "create"], { TERM: "dumb" }],
])("nothing is asked where %s", async (_, args, env) => {
  const terminal = await openTerminal(args, { env });
  const { code, screen } = await terminal.ended();
  expect(code).toBe(2);
  expect(screen).toContain("--payment is missing");
  expect(screen).not.toContain("? ");
});

terminalTest.each([
  ["account", ["pay", "create"], {}, "API key"],
  ["payout secret", ["payout", "send"], account, "payout secret"],
])("who has no %s hears of it before the first question", async (_, args, env, missing) => {
  const terminal = await openTerminal(args, { env });
  const { code, screen } = await terminal.ended();
  expect(code).toBe(4);
  expect(screen).toMatch(new RegExp(`^error: There is no ${missing}`));
});

terminalTest("a secret that got into the line is not shown again", async () => {
  const shop = await openShop();
  const secret = shop.env.LENDEN_PAYOUT_SECRET ?? "";
  const line = ["pay", "create", "--description", `x ${secret}`, "--method", "bkash"];
  const terminal = await shop.open(line, { columns: 200 });
  await terminal.answer("The amount in taka", "12");
  await terminal.answer("Create a payment?", "n");
  const { screen } = await terminal.ended();
  expect(screen).toContain("lenden pay create --description 'x ");
  expect(screen).not.toContain(secret.slice(0, 8));
});
