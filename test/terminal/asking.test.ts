import { parseArgsStringToArgv } from "string-argv";
import { expect, test } from "vitest";
import { lenden } from "../support/lenden.ts";
import { alter, openMerchant, paymentOf, refundOf } from "../support/merchant.ts";
import { answerAll, openShop } from "./shop.ts";
import { openPrompts, terminalTest } from "./terminal.ts";

const account = {
  LENDEN_BASE_URL: "http://127.0.0.1:9/cp/api/v1",
  LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-abc",
};

terminalTest("pay create asks for what is missing and checks each answer", async () => {
  const shop = await openShop();
  const terminal = await shop.open(["pay", "create"], { rows: 40 });
  await terminal.answer("Amount (BDT)", "0");
  await terminal.shows("The amount must be above zero.");
  await terminal.press("C-u");
  await terminal.answer("Amount (BDT)", "12");
  await terminal.answer("Description", "");
  await terminal.answer("The text is empty", "-5 'off'");
  await terminal.shows(/Which method\?\n❯/);
  await terminal.press("Down", "Enter");
  await terminal.answer("Create a payment?", "y");
  expect((await terminal.ended()).code).toBe(0);
  expect(await shop.books("payments")).toContainEqual(
    expect.objectContaining({ description: "-5 'off'" }),
  );
});

test("P17: payout send offers the reference that the API rejected for the same payout", async () => {
  const merchant = await openMerchant();
  const send = async (to: string) => {
    const flags = ["--amount", "5", "--method", "bkash"];
    const terminal = openPrompts(["payout", "send", ...flags], { env: merchant.env });
    await terminal.answer("Recipient's mobile number", to);
    await terminal.shows(/Reference: \(LD-\w{26}\)/);
    await terminal.press("Enter");
    await terminal.answer("Send a payout?", "y");
    const { code, screen } = await terminal.ended();
    return { code, reference: /--ref (LD-\w{26})/.exec(screen)?.[1] };
  };
  // The sandbox rejects payouts to this number.
  const first = await send("01955500001");
  expect(first.code).toBe(3);
  expect(await send("01955500001")).toEqual(first);
  const other = await send("01712345678");
  expect(other.code).toBe(0);
  expect(other.reference).not.toBe(first.reference);
});

test("payout send shows a command line that is the same payout", async () => {
  const merchant = await openMerchant();
  const terminal = openPrompts(["payout", "send"], { env: merchant.env });
  await answerAll(terminal, [
    ["Amount (BDT)", "500"],
    ["Recipient's mobile number", "1712345678"],
  ]);
  const askedAgain = /a leading zero was lost[\s\S]*\n\? Recipient's mobile number/;
  await terminal.answer(askedAgain, "+880 1712-345678");
  await answerAll(terminal, [
    ["Which method?", "", ""],
    ["Reference: (LD-", ""],
    ["Send a payout?", "y"],
  ]);
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  const [, line = "", reference] = /lenden (payout send .* --ref (LD-\w{26}))\n/.exec(screen) ?? [];
  expect(line).toContain("--amount 500 --to '+880 1712-345678' --method bkash");
  const again = await merchant.json(parseArgsStringToArgv(line));
  expect(again).toMatchObject({ merchantRef: reference, existing: true });
  expect(await merchant.books("payouts")).toHaveLength(1);
});

test("refund cancel shows the refund and rejects one that has ended", async () => {
  const shop = await openShop();
  const ended = await shop.id(refundOf(shop.order42, "30"));
  await shop.set("refund", ended, "Completed");
  const open = await shop.id(refundOf(shop.order42, "40"));
  const terminal = shop.prompt(["refund", "cancel"]);
  await terminal.answer("Which refund?", ended, ended);
  await terminal.answer(/is Completed[\s\S]*\n\? Which refund\?/, "40.00", open);
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
  "a payment is found by words, amount, ID, date and status, in Bangla too",
  async () => {
    const shop = await openShop();
    const unpaid = await shop.id(paymentOf("দুই শাড়ি"));
    const terminal = await shop.open(["pay", "get", "-q"], { rows: 40 });
    await terminal.shows("Which payment?");
    for (const [typed, found] of [
      ["SHIRTS order", shop.order42],
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
    await terminal.type("no such payment");
    await terminal.shows("No results found");
    await terminal.press("C-u");
    // Enter together with the text is ignored: it could only choose what was found before.
    await terminal.type("42,\r");
    await terminal.shows(`❯ ${shop.order42}`);
    await terminal.press("Enter");
    expect((await terminal.ended()).screen).toContain(`✔ Which payment? ${shop.order42}`);
  },
);

terminalTest("descriptions with control characters stay on their lines", async () => {
  const shop = await openShop();
  const hostile = [
    "\u001b[2J\u001b[31mPaid\u001b]0;owned\u0007 already",
    "one\r\n✔ Create a refund? Yes",
    "\u202eevil\u202c \u2066x\u2069",
    "লাল জামা ".repeat(200),
    "漢字かな".repeat(30),
  ];
  const sql =
    "UPDATE operations SET asked = json_set(asked, '$.description', ?) WHERE remote_id = ?";
  for (const [index, description] of hostile.entries()) {
    const id = await shop.id(paymentOf(`hostile ${index}`));
    await shop.inLedger((database) =>
      alter(database, () => void database.prepare(sql).run(description, id)),
    );
  }
  const terminal = await shop.open(["pay", "get"], { columns: 60 });
  await terminal.shows(/\n {2}TX[\s\S]*navigate/);
  const screen = await terminal.screen();
  expect(screen.split("\n").map((line) => line.slice(0, 4))).toEqual([
    ...["? Wh", "❯ TX", ...Array(6).fill("  TX"), "", "↑↓ n"],
  ]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these very characters
  expect(screen).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/);
});

test("an ID is typed if the ledger is empty", async () => {
  const { baseUrl, apiKey } = await openShop();
  const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: apiKey };
  const terminal = openPrompts(["refund", "get"], { env });
  await terminal.answer("Refund ID", "a/b");
  await terminal.shows("is not a valid ID");
  await terminal.press("C-u");
  await terminal.answer("Refund ID", "RF1");
  expect((await terminal.ended()).code).toBe(9);
});

test.each([
  ["profile rename", ["profile", "rename", "shop"], "New name", "a/b"],
  ["payout sign", ["payout", "sign", "--amount", "5"], "Reference", "a b"],
])("%s asks with a label that is clear by itself", async (_, args, label, invalid) => {
  const terminal = openPrompts(args, { env: account });
  await terminal.answer(label, invalid);
  await terminal.shows("is not a valid");
  await terminal.press("C-c");
  expect((await terminal.ended()).code).toBe(130);
});

test.each([
  ["an argument is invalid", ["refund", "create", "--amount", "x"], {}],
  ["--no-input is given", ["refund", "create", "--no-input"], {}],
  ["CI is set", ["refund", "create"], { CI: "true" }],
  ["the terminal cannot draw", ["refund", "create"], { TERM: "dumb" }],
])("nothing is asked if %s", async (_, args, env) => {
  const { code, screen } = await openPrompts(args, { env }).ended();
  expect(code).toBe(2);
  expect(screen).toContain("Missing required flag --payment");
  expect(screen).not.toContain("? ");
});

test.each([{ CI: "false" }, { CI: "0", LENDEN_NO_INPUT: "0" }, { LENDEN_NO_INPUT: "False" }])(
  "prompts are on with %j",
  async (env) => {
    const args = [
      "payout",
      "verify",
      "--amount",
      "5",
      "--timestamp",
      "1763614800",
      "--signature",
      "0".repeat(64),
    ];
    const more = { ...account, LENDEN_PAYOUT_SECRET: "a-payout-secret", ...env };
    const terminal = openPrompts(args, { env: more });
    await terminal.answer("Reference", "A");
    expect((await terminal.ended()).code).toBe(11);
  },
);

test.each([
  ["pay", "get"],
  ["pay", "wait"],
  ["pay", "link"],
  ["payout", "get"],
  ["payout", "wait"],
  ["payout", "batch", "status"],
  ["refund", "get"],
  ["refund", "cancel"],
])("%s %s without an argument says how PowerShell takes @last", async (...args) => {
  const { code, stderr } = await lenden(args, { env: account });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/Missing required argument <.*'@last'.*PowerShell/),
  });
});

test.each([
  ["API key", ["pay", "create"], {}],
  ["payout secret", ["payout", "send"], account],
])(
  "a missing %s is reported before the first prompt, with its command unbroken",
  async (missing, args, env) => {
    const terminal = openPrompts(args, { env, columns: 50 });
    const { code, screen } = await terminal.ended();
    expect(code).toBe(4);
    expect(screen).toMatch(new RegExp(`^error: No ${missing}`));
    expect(screen.split("\n").some((line) => line.includes("'lenden profile "))).toBe(true);
  },
);

test("a secret in a flag is masked in the shown command line", async () => {
  const shop = await openShop();
  const secret = shop.env.LENDEN_PAYOUT_SECRET ?? "";
  const line = ["pay", "create", "--description", `x ${secret}`, "--method", "bkash"];
  const terminal = shop.prompt(line, { columns: 200 });
  await terminal.answer("Amount (BDT)", "12");
  await terminal.answer("Create a payment?", "n");
  const { screen } = await terminal.ended();
  expect(screen).toContain("lenden pay create --description 'x ");
  expect(screen).not.toContain(secret.slice(0, 8));
});
