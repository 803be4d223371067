import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../support/helpers.ts";
import { built, ended } from "../support/lenden.ts";
import { openMerchantApart, paymentOf, payoutOf } from "../support/merchant.ts";
import { payeesOf, sendOf } from "../support/payees.ts";
import { startService } from "../support/server.ts";
import { isOneFile } from "../tool.js";

const failingClose = resolve(import.meta.dirname, "../support/failing-close.cjs");
const warning = "Cannot close the ledger or a connection: disk I/O error.";

/** Runs the built tool; closing its ledger, which is not new, fails. */
async function failingMerchant() {
  const merchant = await openMerchantApart();
  await merchant.id(paymentOf("first"));
  const env = { ...merchant.env, NODE_OPTIONS: `--require ${failingClose}` };
  return { merchant, run: (args: string[]) => built(args, { env }) };
}

describe.skipIf(isOneFile)("P27: a ledger that cannot be closed", () => {
  test("is a warning after an accepted payout", async () => {
    const { merchant, run } = await failingMerchant();

    const { code, stdout, stderr } = await run(payoutOf("CLOSE-1"));

    expect([code, stdout]).toEqual([0, expect.stringContaining("CLOSE-1")]);
    expect(stderr).toContain(warning);
    expect(stderr).not.toMatch(/nothing was sent|^error/im);
    expect(await merchant.json(["ledger", "show", "CLOSE-1"])).toMatchObject({
      state: "CONFIRMED",
    });
  });

  test("is in the warnings of a JSON result, and of a JSON error", async () => {
    const { merchant, run } = await failingMerchant();

    const sent = await run(payoutOf("CLOSE-1", "--json"));

    expect([sent.code, sent.stderr]).toEqual([0, ""]);
    expect(JSON.parse(sent.stdout)).toMatchObject({
      merchantRef: "CLOSE-1",
      warnings: [{ reason: "run.closing-failed", message: expect.stringContaining(warning) }],
    });
    await merchant.set("payout", JSON.parse(sent.stdout).payoutId, "Cancelled");
    const cancelled = await run(payoutOf("CLOSE-1", "--json"));
    expect(cancelled.code).toBe(10);
    expect(JSON.parse(cancelled.stdout).warnings).toHaveLength(1);
  });

  test("is one line of JSON on stderr after a list or an ID, which have no place for it", async () => {
    const { merchant, run } = await failingMerchant();
    const [payment] = await merchant.books("payments");
    await merchant.set("payment", String(payment?.id), "Completed");
    const lines = [["pay", "list", "--refresh", "--json"], payoutOf("CLOSE-1", "-q", "--json")];
    for (const line of lines) {
      const { code, stdout, stderr } = await run(line);
      expect([code, stdout]).toEqual([0, expect.not.stringContaining("run.closing-failed")]);
      expect(JSON.parse(stderr)).toEqual({
        warnings: [{ reason: "run.closing-failed", message: expect.stringContaining(warning) }],
      });
    }
  });

  test("does not change the error of a payout whose outcome is unknown", async () => {
    const { env } = await startService(({ method }) =>
      method === "GET"
        ? { data: [{ id: "bkash", providerName: "bKash", codeName: "bkash" }] }
        : { status: 500, data: null },
    );
    // A ledger that is created and cannot be closed is reported before anything is sent.
    expect((await built(paymentOf("first"), { env })).code).toBe(75);
    const failing = { ...env, NODE_OPTIONS: `--require ${failingClose}` };

    const { code, stderr } = await built(payoutOf("CLOSE-2", "--timeout", "3s", "--json"), {
      env: failing,
    });

    expect(code).toBe(75);
    expect(JSON.parse(stderr).error).toMatchObject({
      kind: "uncertain",
      operation: "CLOSE-2",
      warnings: [{ reason: "run.closing-failed" }],
    });
  });
});

test("P27: a batch whose states cannot be read after it was sent has an unknown outcome", async () => {
  const merchant = await openMerchantApart();
  const wait = ["--wait", "--wait-timeout", "2s", "--interval", "100ms"];
  const child = merchant.start(sendOf(payeesOf("ALTERED", 3), ...wait));
  const end = ended(child);
  await until(async () => (await merchant.count("payouts")) === 3);

  await merchant.inLedger((ledger) =>
    ledger.exec("UPDATE batch_rows SET amount_paisa = amount_paisa + 1 WHERE row = 1"),
  );

  const { code, stderr } = await end;
  expect([code, stderr]).toEqual([75, expect.stringContaining("Outcome unknown")]);
  expect(stderr).toContain("do not match its recorded total");
  expect(stderr).not.toMatch(/nothing (?:was|is) sent/i);
});
