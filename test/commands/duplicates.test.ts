import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost } from "../support/lenden.ts";
import {
  alter,
  openMerchant,
  openProductionMerchant,
  payoutOf,
  withFlags,
} from "../support/merchant.ts";

const sending = ["payout", "send", "--amount", "500", "--to", "01712345678", "--method", "bkash"];

/** A merchant whose ledger a test makes older. */
async function merchantWithAge(rules: string[] = []) {
  const ill = faults(...rules);
  const merchant = await openMerchant({ faults: ill });
  const run = (line: string[]) => merchant.lenden(line, { host: jumpingHost() });
  const pass = (hours: number) =>
    merchant.inLedger((ledger) => {
      const earlier = (column: string) =>
        `${column} = strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '-${60 * hours} minutes')`;
      alter(ledger, () =>
        ledger.exec(`UPDATE operations SET ${earlier("created_at")}, ${earlier("updated_at")}`),
      );
      ledger.exec(`UPDATE events SET ${earlier("at")}`);
    });
  return { merchant, run, pass, heal: () => void ill.splice(0) };
}

describe("payout send without --ref", () => {
  test("counts a payout from its last attempt on", async () => {
    const { run, pass, heal } = await merchantWithAge(["createPayout:status-401"]);
    expect(await run(payoutOf("INV-1"))).toMatchObject({ code: 4 });
    await pass(30);
    heal();
    expect(await run(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    const line = withFlags(sending, { "--amount": "5" });
    expect(await run(line)).toMatchObject({ code: 3 });
  });

  test("is rejected while a batch has the same row to send", async () => {
    const { merchant, run, heal } = await merchantWithAge(["createPayout:status-401"]);
    const file = fileOf(
      "ref,amount,to,method\nB-1,5,01812345678,bkash\nB-2,500,01712345678,bkash\n",
    );
    const batch = ["payout", "batch", "send", file];
    expect(await run(batch)).toMatchObject({ code: 4 });
    heal();
    for (const line of [sending, [...sending, "--ref", "INV-1"]]) {
      const rejected = await run(line);
      expect(rejected).toMatchObject({ code: 3, stdout: "" });
      expect(rejected.stderr).toContain("B-2");
    }
    expect(await run(batch)).toMatchObject({ code: 0 });
    expect(await run(sending)).toMatchObject({ code: 3 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test.each([
    ["the same payout", sending],
    ["another payout", withFlags(sending, { "--amount": "7" })],
  ])("is rejected with a reference that a batch has to send: %s", async (_, line) => {
    const { merchant, run } = await merchantWithAge(["createPayout:status-401"]);
    const rows = Array.from({ length: 40 }, (_, row) => `B-${row},${row + 1},01812345678,bkash\n`);
    const file = fileOf(`ref,amount,to,method\n${rows.join("")}B-40,500,01712345678,bkash\n`);
    const batch = ["payout", "batch", "send", file, "--concurrency", "1"];
    expect(await run(batch)).toMatchObject({ code: 4 });
    const rejected = await run([...line, "--ref", "B-40", "--again"]);
    expect(rejected).toMatchObject({ code: 3, stdout: "" });
    expect(rejected.stderr).toMatch(/Reference B-40 belongs to batch B\w{6}, .*Nothing was sent\./);
    expect(await merchant.books("payouts")).toEqual([]);
  });
});

describe("in production", () => {
  test("a payout without --ref is rejected for any API key and base URL of the environment", async () => {
    const merchant = await openProductionMerchant();
    expect(await merchant.lenden(sending)).toMatchObject({ code: 0 });
    expect(await merchant.lenden(sending)).toMatchObject({ code: 3, stdout: "" });
    const elsewhere = { LENDEN_BASE_URL: merchant.otherBaseUrl };
    expect(await merchant.lenden(sending, elsewhere)).toMatchObject({ code: 3 });
    await merchant.rotateKey("public-NEW-ABCDEFGHIJKL-NEW");
    const rotated = { LENDEN_API_KEY: "public-NEW-ABCDEFGHIJKL-NEW" };
    const third = await merchant.lenden(sending, { ...elsewhere, ...rotated });
    expect(third).toMatchObject({ code: 3, stderr: expect.stringContaining("Nothing was sent.") });
    expect(await merchant.books("payouts")).toHaveLength(1);
    const explicit = await merchant.lenden([...sending, "--ref", "INV-9"], rotated);
    expect(explicit).toMatchObject({ code: 0 });
    expect(explicit.stderr).toContain("Earlier payout: ");
    expect(await merchant.books("payouts")).toHaveLength(2);
    const at = "'2026-01-01T00:00:00.000Z'";
    await merchant.inLedger((ledger) =>
      alter(ledger, () =>
        ledger.exec(`UPDATE operations SET created_at = ${at}, updated_at = ${at}, accepted_at = ${at};
          UPDATE events SET at = ${at}`),
      ),
    );
    const sameReference = [...sending, "--ref", "INV-9"];
    expect(await merchant.lenden(sameReference, elsewhere)).toMatchObject({ code: 3 });
    expect(await merchant.lenden(sameReference, rotated)).toMatchObject({ code: 0 });
    expect(
      await merchant.lenden([...sameReference, "--again"], { ...elsewhere, ...rotated }),
    ).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });
});
