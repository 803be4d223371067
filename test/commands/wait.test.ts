import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import {
  ended,
  jumpingHost,
  type Merchant,
  openMerchant,
  paidPayment,
  paymentOf,
  payoutOf,
  refundOf,
  startService,
  until,
} from "../merchant.ts";
import { lenden } from "../run.ts";
import { faults } from "../sandbox/running.ts";

const groups = ["pay", "payout", "refund"] as const;
type Group = (typeof groups)[number];
const kindOf = { pay: "payment", payout: "payout", refund: "refund" };

/** The line that makes one of a kind. */
async function creating(group: Group, merchant: Merchant): Promise<string[]> {
  if (group === "pay") return paymentOf("waited for");
  if (group === "payout") return payoutOf("WAIT");
  return refundOf(await paidPayment(merchant), "40");
}

async function create(group: Group, merchant: Merchant): Promise<string> {
  return merchant.id(await creating(group, merchant));
}

const often = ["--interval", "20ms"];

test.each(groups)(
  "P24: `%s wait` ends 0 when it is Completed and 10 when it is Cancelled",
  async (group) => {
    const merchant = await openMerchant();
    for (const [status, code] of [
      ["Completed", 0],
      ["Cancelled", 10],
    ] as const) {
      const line =
        group === "payout" ? payoutOf(`WAIT-${status}`) : await creating(group, merchant);
      const id = await merchant.id(line);
      const waiting = merchant.lenden([group, "wait", id, ...often, "--json"]);
      await merchant.set(kindOf[group], id, status);
      const waited = await waiting;
      expect(waited.code).toBe(code);
      expect(JSON.parse(waited.stdout)).toMatchObject({ status });
      expect(await merchant.json(["ledger", "show", id])).toMatchObject({ status });
      const again = await merchant.lenden([group, "wait", "@last", ...often]);
      expect(again.code).toBe(code);
    }
  },
);

test.each(groups)(
  "`%s wait` ends 8 when the time is up, and shows what it saw last",
  async (group) => {
    const merchant = await openMerchant();
    const id = await create(group, merchant);
    const line = [group, "wait", id, ...often, "--wait-timeout", "150ms"];
    const { code, stdout, stderr } = await merchant.lenden(line);
    expect([code, stdout]).toEqual([8, expect.stringContaining("Processing")]);
    expect(stderr.match(/is Processing/g)).toHaveLength(1);
  },
);

test.each(groups)(
  "`%s wait` ends with --timeout too (8), and does not ask without end",
  async (group) => {
    const merchant = await openMerchant();
    const id = await create(group, merchant);
    const before = (await merchant.requests()).length;
    const line = [group, "wait", id, "--timeout", "300ms", "--wait-timeout", "15s", "--json"];
    const { code, stdout } = await merchant.lenden(line);
    expect([code, JSON.parse(stdout).status]).toEqual([8, "Processing"]);
    expect((await merchant.requests()).length - before).toBeLessThan(4);
  },
);

test.each(groups)("`%s wait` ends 9 for an id that the service does not know", async (group) => {
  const merchant = await openMerchant();
  const { code, stdout, stderr } = await merchant.lenden([group, "wait", "XX0000", ...often]);
  expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
  expect(stderr).toContain("does not know XX0000 (404)");
  const json = await merchant.lenden([group, "wait", "XX0000", "--json"]);
  expect(JSON.parse(json.stderr).error).toMatchObject({ kind: "not-found", operation: "XX0000" });
});

test.each(groups)("`%s … --wait` does the same after creating: 0, 10 and 8", async (group) => {
  for (const [status, code] of [
    ["Completed", 0],
    ["Cancelled", 10],
    [undefined, 8],
  ] as const) {
    const merchant = await openMerchant();
    const line = await creating(group, merchant);
    const table = group === "pay" ? "payments" : group === "payout" ? "payouts" : "refunds";
    const before = (await merchant.books(table)).length;
    const timeout = status ? "10s" : "100ms";
    const waiting = merchant.lenden([
      ...line,
      "--wait",
      ...often,
      "--wait-timeout",
      timeout,
      "--json",
    ]);
    await until(async () => (await merchant.books(table)).length > before);
    const id = String((await merchant.books(table)).at(-1)?.id);
    if (status) await merchant.set(kindOf[group], id, status);
    const waited = await waiting;
    expect(waited).toMatchObject({ code });
    expect(JSON.parse(waited.stdout)).toMatchObject({ status: status ?? "Processing" });
  }
});

test("every change is said once, and a status that nobody documented is no end", async () => {
  const statuses = [
    "Processing",
    "Processing",
    "Reviewing",
    "Reviewing",
    "Processing",
    "Completed",
  ];
  const { env, asked } = await startService(({ path }) => ({
    data: {
      transactionId: path.split("/").at(-1),
      amount: 5,
      description: "x",
      status: statuses[asked.length - 1] ?? "Completed",
      paymentMethod: "bKash",
      createdAt: "2026-11-20T10:00:00.000Z",
      updatedAt: "2026-11-20T10:00:00.000Z",
    },
  }));
  const { code, stderr } = await lenden(["pay", "wait", "TX1", ...often], { env });
  expect(code).toBe(0);
  expect(stderr.trim().split("\n")).toEqual([
    "Payment TX1 is Processing.",
    "Payment TX1 is Reviewing.",
    "Payment TX1 is Processing.",
    "Payment TX1 is Completed.",
  ]);
  expect(asked).toHaveLength(6);
});

test("a service that fails for a while in between does not end the waiting", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const id = await create("payout", merchant);
  const waiting = merchant.lenden(["payout", "wait", id, ...often], { host: jumpingHost() });
  const looks = async () =>
    (await merchant.requests()).filter(({ path }) => path.includes("retrieve")).length;
  await until(async () => (await looks()) > 1);
  ill.push(...faults("retrievePayout:status-503"));
  const before = await looks();
  await until(async () => (await looks()) > before + 4);
  ill.splice(0);
  await merchant.set("payout", id, "Completed");
  expect(await waiting).toMatchObject({ code: 0 });
});

test("a service that fails from the first look on is said to be unreachable", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const id = await create("payout", merchant);
  ill.push(...faults("retrievePayout:status-503"));
  const line = ["payout", "wait", id, ...often];
  expect(await merchant.lenden(line, { host: jumpingHost() })).toMatchObject({
    code: 69,
    stdout: "",
  });
});

test("SIGINT ends `pay wait` with the last state and exit 130", async () => {
  expect(await interrupted("SIGINT")).toMatchObject({
    code: 130,
    stdout: { status: "Processing" },
  });
});

test("SIGTERM ends `pay wait` with the last state and exit 143", async () => {
  expect(await interrupted("SIGTERM")).toMatchObject({
    code: 143,
    stdout: { status: "Processing" },
  });
});

async function interrupted(name: "SIGINT" | "SIGTERM") {
  const merchant = await openMerchant();
  const id = await create("pay", merchant);
  const child = merchant.start(["pay", "wait", id, "--json"]);
  const end = ended(child);
  await until(async () =>
    (await merchant.requests()).some(({ path }) => path.includes("retrieve")),
  );
  setTimeout(() => child.kill(name), 150);
  const { code, stdout } = await end;
  return { code, stdout: JSON.parse(stdout) };
}
