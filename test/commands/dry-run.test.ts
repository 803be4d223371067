import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";

const commands = await loadCommands(entries);

const account = testAccount();

const payroll = join(scratchFolder(), "payroll.csv");
writeFileSync(payroll, "ref,amount,to\nINV-7,500,01712345678\n");

const writes: Record<string, string[]> = {
  "pay create": ["--amount", "1250.50", "--description", "Order 42", "--method", "bkash"],
  "payout send": ["--amount", "500", "--to", "01712345678", "--method", "bkash", "--ref", "INV-7"],
  "payout batch send": [payroll, "--method-id", "METHOD"],
  "refund create": [
    ...["--payment", "TX1", "--amount", "5", "--account-type", "personal"],
    ...["--account-number", "01812345678"],
  ],
  "refund cancel": ["RF1", "--note", "kept it"],
  "sandbox trigger payment": ["TX1"],
  "sandbox trigger payout": ["PO1"],
  "sandbox trigger refund": ["RF1"],
  "sandbox set": ["payout", "PO1", "Cancelled"],
  api: ["POST", "/payout/create-by-server", "-f", "amount=5", "-f", "merchantRef=A"],
};

test("dry runs are tested for every command that writes", () => {
  const names = commands.filter(({ mode }) => mode === "write").map(({ name }) => name);
  expect(names.sort()).toEqual(Object.keys(writes).sort());
});

test.each(Object.entries(writes))(
  "%s --dry-run sends nothing and shows neither key nor secret nor signature",
  async (name, flags) => {
    const { sandbox, run, asked } = account;
    for (const format of ["table", "json", "ndjson", "csv"]) {
      const line = [...name.split(" "), ...flags, "--dry-run", "-v", "-o", format];
      const { code, stdout, stderr } = await run(line);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/POST|PATCH/);
      expect(stdout).toMatch(/lenden\/\d+\.\d+\.\d+ \(node \d+\.\d+\.\d+; linux \w+\)/);
      const { apiKey, payoutSecret } = sandbox();
      expect(stdout).toContain(`sk_sandbox_…${apiKey.slice(-3)}`);
      for (const secret of [apiKey, apiKey.slice(11, 19), payoutSecret, payoutSecret.slice(0, 8)]) {
        expect(stdout).not.toContain(secret);
      }
      expect(stdout).not.toMatch(/[0-9a-f]{64}/);
    }
    expect(await asked()).toEqual([]);
  },
);

test.each([
  ["payout send", writes["payout send"]],
  ["payout batch send", writes["payout batch send"]],
  ["api", writes.api],
])(
  "%s --dry-run does not read the payout secret, and shows no signature",
  async (name, flags = []) => {
    const { LENDEN_PAYOUT_SECRET: _, ...env } = account.env();
    const line = [...name.split(" "), ...flags];
    const previewed = await lenden([...line, "--dry-run", "--json"], { env });
    expect([previewed.code, previewed.stderr]).toEqual([0, ""]);
    const { headers } = JSON.parse(previewed.stdout);
    expect(headers).toMatchObject({ "x-payout-signature": "(made when it is sent)" });
    expect(await lenden([...line, "--yes"], { env })).toMatchObject({ code: 4 });
  },
);

test("the JSON of a dry run is the request, with amount and number as they are sent", async () => {
  const { run, sandbox } = account;
  const { stdout } = await run([
    "payout",
    "send",
    ...(writes["payout send"] ?? []),
    "--dry-run",
    "--json",
  ]);
  expect(JSON.parse(stdout)).toMatchObject({
    method: "POST",
    url: `${sandbox().baseUrl}/payout/create-by-server`,
    headers: { "content-type": "application/json" },
    body: { amount: 500, merchantRef: "INV-7", recipientNumber: "01712345678" },
  });
  const payment = await run([
    "pay",
    "create",
    ...(writes["pay create"] ?? []),
    "--dry-run",
    "--json",
  ]);
  expect(payment.stdout).toContain('"amount": 1250.5\n');
});

test("a method name is looked up when a payout is sent, and not in a dry run", async () => {
  const { run, asked } = account;
  const line = ["pay", "create", ...(writes["pay create"] ?? [])];
  const before = await run([...line, "--dry-run", "--json"]);
  expect(JSON.parse(before.stdout)).toMatchObject({
    body: { paymentMethodId: "(the id of bkash, looked up when it is sent)" },
  });
  await run(["methods"]);
  const after = await run([...line, "--dry-run", "--json"]);
  expect(JSON.parse(after.stdout)).toMatchObject({ body: { paymentMethodId: "665f1c2ab8e4" } });
  expect(await asked()).toEqual(["GET /payment/methods"]);
  const unknown = line.map((word) => (word === "bkash" ? "nosuch" : word));
  expect(await run([...unknown, "--dry-run"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Its methods: bkash"),
  });
});
