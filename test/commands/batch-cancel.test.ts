import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";

const rows = Array.from(
  { length: 30 },
  (_, row) => `R-${row},${row + 1},017${10_000_000 + row},bkash`,
);
const csv = ["ref,amount,to,method", ...rows, ""].join("\n");

/** A merchant with a batch of 30 rows that stopped, so that some of them were not sent. */
async function setup({ fault = "createPayout:status-401" } = {}) {
  const ill = faults(fault);
  const merchant = await openMerchant({ faults: ill });
  const file = fileOf(csv);
  const run = (verb: string, ...flags: string[]) =>
    merchant.lenden(["payout", "batch", verb, file, ...flags], { host: jumpingHost() });
  const stopped = await run("send", "--concurrency", "1");
  ill.splice(0);
  return { ...merchant, run, file, stopped };
}

describe("payout batch cancel", () => {
  test("shows the rows and the amount, and needs --yes non-interactively", async () => {
    const { run, books } = await setup();
    const asked = await run("cancel");
    expect(asked).toMatchObject({ code: 4, stdout: "" });
    expect(asked.stderr).toContain("To be cancelled: 30 rows, BDT 465.00");
    expect(await run("send")).toMatchObject({ code: 0 });
    expect(await books("payouts")).toHaveLength(30);
  });

  test("ends the batch: nothing more is sent, and status shows it", async () => {
    const { run, moneyRequests } = await setup();
    const before = (await moneyRequests()).length;
    const cancelled = await run("cancel", "--yes", "--json");
    expect(cancelled).toMatchObject({ code: 0 });
    expect(JSON.parse(cancelled.stdout)).toMatchObject({
      cancelledAt: expect.stringMatching(/^\d{4}-/),
      released: { rows: 30, total: "465" },
    });
    for (const flags of [[], ["--dry-run"], ["--allow-duplicates"]]) {
      const sent = await run("send", ...flags);
      expect(sent).toMatchObject({ code: 3, stdout: "" });
      expect(sent.stderr).toMatch(
        /Batch B\w{6} was cancelled on .*Nothing was sent\.[\s\S]*--name/,
      );
    }
    expect(await run("check")).toMatchObject({ code: 3 });
    expect(await moneyRequests()).toHaveLength(before);
    const status = await run("status");
    expect(status).toMatchObject({ code: 6 });
    expect(status.stdout).toMatch(/Batch cancelled +\d/);
    expect(await run("cancel", "--yes")).toMatchObject({ code: 0 });
  });

  test("makes the same rows in another order cancelled too, and --name sends them", async () => {
    const { run, lenden, books } = await setup();
    expect(await run("cancel", "--yes")).toMatchObject({ code: 0 });
    const [header = "", ...lines] = csv.trim().split("\n");
    const turned = fileOf([header, ...lines.toReversed()].join("\r\n"), "other.csv");
    const line = ["payout", "batch", "send", turned];
    expect(await lenden(line)).toMatchObject({ code: 3, stdout: "" });
    expect(await lenden([...line, "--name", "again"])).toMatchObject({ code: 0 });
    expect(await books("payouts")).toHaveLength(30);
    // What another batch sends later is not a payout of the cancelled one, apart from an operation of its own
    // that was rejected for lack of access, and was sent again.
    const { states } = JSON.parse((await run("status", "--json")).stdout);
    expect(states).toMatchObject({ unsent: { rows: 29 }, processing: { rows: 1 } });
  });

  test("releases references and amounts: nothing counts its rows any longer", async () => {
    const { run, lenden, books } = await setup();
    const same = ["--amount", "30", "--to", "01710000029", "--method", "bkash"];
    for (const line of [same, [...same, "--ref", "R-29"]])
      expect(await lenden(["payout", "send", ...line])).toMatchObject({ code: 3 });
    expect(await run("cancel", "--yes")).toMatchObject({ code: 0 });
    expect(await lenden(["payout", "send", ...same, "--ref", "R-29"])).toMatchObject({ code: 0 });
    expect(await books("payouts")).toHaveLength(1);
  });

  test("leaves rows with an unknown outcome to be resolved", async () => {
    const { run, lenden, books, stopped } = await setup({ fault: "createPayout:lost-reply" });
    expect(stopped).toMatchObject({ code: 75 });
    const cancelled = await run("cancel", "--yes", "--json");
    expect(cancelled).toMatchObject({ code: 0 });
    const { released, states, warnings } = JSON.parse(cancelled.stdout);
    expect(states.uncertain.rows).toBeGreaterThan(0);
    expect(warnings).toMatchObject([
      { message: expect.stringContaining("'lenden ledger resolve'") },
    ]);
    expect(await run("status")).toMatchObject({ code: 75 });
    expect(await lenden(["ledger", "resolve"], { host: jumpingHost() })).toMatchObject({ code: 0 });
    expect(await run("send")).toMatchObject({ code: 3 });
    expect(await books("payouts")).toHaveLength(30 - released.rows);
  });

  test("rejects a batch whose rows were all sent", async () => {
    const { run } = await setup();
    expect(await run("send")).toMatchObject({ code: 0 });
    const cancelled = await run("cancel", "--yes");
    expect(cancelled).toMatchObject({ code: 3, stdout: "" });
    expect(cancelled.stderr).toContain("no row to cancel");
  });
});
