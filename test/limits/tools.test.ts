import { expect, test } from "vitest";
import { isObject } from "../../src/domain/json.ts";
import { connect } from "../mcp/client.ts";
import { built } from "../support/lenden.ts";
import { openMerchantApart } from "../support/merchant.ts";
import { machineOf } from "./calls.ts";

/** Values of the arguments of tools, by their names. */
const values: Record<string, unknown[]> = {
  ...{ kind: ["payout"], status: ["Completed"], since: ["2h ago"], until: ["2h ago"] },
  ...{ recipient: ["01812345678"], reference: ["EARLIER"], ref: ["EARLIER", "NEW"] },
  ...{ actor: ["person", "agent"], limit: [50], before: ["OP0"], month: ["2026-11"], by: ["user"] },
  ...{ id: ["EARLIER"], amount: ["0.01", "90", "1000000"], to: ["01712345678", "01812345678"] },
  ...{ method: ["bkash", "nagad"], name: ["tea"], description: ["tea"], payer: ["01812345678"] },
  ...{ account_type: ["personal"], account_number: ["01812345678"], note: ["tea"] },
  ...{ plan: ["B000000"], digest: ["0".repeat(64)] },
};

test("I13: whatever an agent gives to a tool, no limit is exceeded", async () => {
  const merchant = await openMerchantApart();
  const env = await machineOf(merchant);
  const json = async (line: string[], more = {}) => {
    const { code, stdout, stderr } = await built([...line, "--json"], { env: { ...env, ...more } });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout);
  };
  const pay = ["pay", "create", "--amount", "1000", "--description", "tea"];
  const { transactionId: payment } = await json(pay);
  await merchant.set("payment", payment, "Completed");
  await json(["limits", "set", "--agent-payout", "100", "--agent-day", "100", "--yes"]);
  const earlier = ["payout", "send", "--amount", "100", "--to", "01712345678", "--ref", "EARLIER"];
  await json(earlier, { LENDEN_ACTOR: "agent" });
  const { client, call } = await connect({ env }, { isBounded: false });
  const { tools } = await client.listTools();
  const known: typeof values = { ...values, payment: [payment] };
  const ends = new Map<string, number>();
  const plans = new Set<string>();
  const callTool = async (tool: string, given: Record<string, unknown>) => {
    const { data } = await call(tool, given);
    const { error, batch, id, plan } = data;
    for (const one of [batch, id, plan]) if (typeof one === "string") plans.add(one);
    const end = isObject(error) ? String(error.reason) : "done";
    ends.set(`${tool}: ${end}`, (ends.get(`${tool}: ${end}`) ?? 0) + 1);
  };

  for (const { name, inputSchema } of tools)
    for (const given of objectsOf(inputSchema, known)) await callTool(name, given);
  for (const plan of plans) await callTool("send_plan", { plan });

  process.stdout.write(`${JSON.stringify(Object.fromEntries(ends))}\n`);
  const sent = [...(await merchant.books("payouts")), ...(await merchant.books("refunds"))];
  expect(sent.map(({ merchantRef }) => merchantRef)).toEqual(["EARLIER"]);
  expect([...ends.keys()]).toContain("plan_payouts: limits.agent-day");
  expect([...ends.keys()]).toContain("plan_refund: limits.agent-day");
});

/** The shortest object of a schema, and it with each value of each property. */
function objectsOf(schema: unknown, known: typeof values): Record<string, unknown>[] {
  const { properties, required = [] } = isObject(schema) ? schema : {};
  if (!isObject(properties) || !Array.isArray(required)) return [{}];
  const own = Object.entries(properties).map(([name, one]) => ({
    name,
    all: valuesOf(name, one, known),
  }));
  const shortest = Object.fromEntries(
    own.flatMap(({ name, all }) => (required.includes(name) ? [[name, all[0]]] : [])),
  );
  return [
    shortest,
    ...own.flatMap(({ name, all }) => all.map((value) => ({ ...shortest, [name]: value }))),
  ];
}

function valuesOf(name: string, schema: unknown, known: typeof values): unknown[] {
  if (!isObject(schema)) throw new Error(`${name} has no schema`);
  if (schema.type === "array") return objectsOf(schema.items, known).map((one) => [one]);
  const found = Array.isArray(schema.enum) ? schema.enum : known[name];
  if (!found) throw new Error(`no value is known for the argument ${name}`);
  return found;
}
