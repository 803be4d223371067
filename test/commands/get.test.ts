import { describe, expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { lenden } from "../support/lenden.ts";
import { openMerchant, paidPayment, paymentOf, payoutOf, refundOf } from "../support/merchant.ts";
import { startService } from "../support/server.ts";

describe("a status that get shows", () => {
  test("is recorded in the ledger", async () => {
    const merchant = await openMerchant();
    const payment = await paidPayment(merchant);
    const payout = await merchant.id(payoutOf("INV-1"));
    const listed = async (group: string) => JSON.stringify(await merchant.json([group, "list"]));
    const refund = await merchant.id(refundOf(payment, "40"));
    await merchant.set("payout", payout, "Completed");
    await merchant.set("refund", refund, "Cancelled");
    for (const [group, id] of [
      ["pay", payment],
      ["payout", payout],
      ["refund", refund],
    ] as const)
      expect(await merchant.lenden([group, "get", id])).toMatchObject({ code: 0 });
    expect(await listed("pay")).toContain("Completed");
    expect(await listed("payout")).toContain("Completed");
    expect(await listed("refund")).toContain("Cancelled");
  });

  const created = { payoutId: "PO1", merchantRef: "INV-1", amount: 5, status: "Processing" };
  const record = { ...created, recipientNumber: "01712345678" };
  const send = [...payoutOf("INV-1"), "--method-id", "M1"].filter(
    (word, index, all) => word !== "--method" && all[index - 1] !== "--method",
  );

  test.each([
    ["recipient", { recipientNumber: "01812345678" }],
    ["amount", { amount: 50 }],
  ])("P16: is a conflict if the %s of the payout differs", async (what, other) => {
    let isOther = false;
    const { env } = await startService(({ path }) => {
      if (path.endsWith("create-by-server")) return { data: created };
      return { data: isOther ? { ...record, ...other } : record };
    });
    expect(await lenden(send, { env })).toMatchObject({ code: 0 });
    expect(await lenden(["payout", "get", "PO1"], { env })).toMatchObject({ code: 0 });
    isOther = true;
    for (const attempt of [1, 2]) {
      const { code, stdout, stderr } = await lenden(["payout", "get", "PO1"], { env });
      expect({ attempt, code, stdout }).toEqual({ attempt, code: 5, stdout: "" });
      expect(stderr).toContain(what);
    }
    const shown = await lenden(["ledger", "show", "INV-1", "--json"], { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({ state: "CONFLICT" });
  });

  test("P16: is a conflict if 'payout list --refresh' shows another recipient", async () => {
    let isOther = false;
    const { env } = await startService(({ path }) => {
      if (path.endsWith("create-by-server")) return { data: created };
      return { data: isOther ? { ...record, recipientNumber: "01812345678" } : record };
    });
    expect(await lenden(send, { env })).toMatchObject({ code: 0 });
    isOther = true;
    await lenden(["payout", "list", "--refresh"], { env });
    const shown = await lenden(["ledger", "show", "INV-1", "--json"], { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({ state: "CONFLICT" });
  });

  test("P18: keeps the payout confirmed if the API rejects the key", async () => {
    let isRejected = false;
    const { env } = await startService(({ path }) => {
      if (isRejected) return { status: 401, data: {} };
      return { data: path.endsWith("create-by-server") ? created : record };
    });
    expect(await lenden(send, { env })).toMatchObject({ code: 0 });
    isRejected = true;
    for (const line of [send, ["payout", "get", "PO1"], ["payout", "wait", "PO1"]]) {
      const { code, stdout, stderr } = await lenden(line, { env });
      expect({ line, code, stdout }).toEqual({ line, code: 4, stdout: "" });
      expect(stderr).toContain(
        "The API accepted payout INV-1 (PO1) earlier, but its status cannot be retrieved.",
      );
      expect(stderr).not.toContain("Outcome unknown");
    }
  });
});

describe("get of an ID that the API does not know", () => {
  test("names the command of a payout's ID, a reference and an operation", async () => {
    const merchant = await openMerchant();
    const payout = await merchant.id(payoutOf("INV-1"));
    for (const line of [
      ["pay", "get", payout],
      ["refund", "get", payout],
      refundOf(payout, "40"),
    ]) {
      const { code, stderr } = await merchant.lenden(line);
      expect(code).toBe(9);
      expect(stderr).toContain(`'lenden payout get ${payout}'`);
    }
    const { operation } = await merchant.json(["ledger", "show", "INV-1"]);
    for (const name of ["INV-1", String(operation)]) {
      const { code, stderr } = await merchant.lenden(["payout", "get", name]);
      expect(code).toBe(9);
      expect(stderr).toContain(`'lenden ledger show ${name}'`);
    }
  });
});

test("a payment of unknown outcome on a local sandbox is found in its log, not in a dashboard", async () => {
  const merchant = await openMerchant({ faults: faults("createPayment:lost-reply") });
  const { code, stderr } = await merchant.lenden(paymentOf("Order 42"));
  expect(code).toBe(75);
  expect(stderr).toContain("'lenden api GET /local/records/0'");
  expect(stderr).not.toContain("dashboard");
});
