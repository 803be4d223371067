import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { lenden } from "../support/lenden.ts";
import { heldBy } from "../support/merchant.ts";
import { threeUnknown, unknownBatch } from "./unknown-batch.ts";

describe("payout batch resolve", () => {
  test("records unknown rows as not created, and the batch sends them with the same references", async () => {
    const { merchant, file, resolve, states } = await unknownBatch();

    const { code, stdout, stderr } = await merchant.lenden(resolve("--not-created", "--yes"));

    expect([code, await states()]).toEqual([0, ["CONFIRMED", "NOT_SENT", "NOT_SENT", "NOT_SENT"]]);
    expect(stderr).toMatch(
      /Line 3: ROW-2, BDT 5\.00 to 01710000002, outcome unknown since \d+ \w+ \d{4}/,
    );
    expect(stderr).not.toContain("ROW-1,");
    expect(stdout).toContain("ROW-4");
    expect(await merchant.json(["ledger", "show", "ROW-2"])).toMatchObject({ code: "declared" });
    expect(await merchant.lenden(resolve("--not-created", "--json"))).toMatchObject({
      code: 0,
      stdout: "[]\n",
    });
    expect(await merchant.lenden(["payout", "batch", "send", file])).toMatchObject({ code: 0 });
    const references = (await merchant.books("payouts")).map((payout) => payout.merchantRef);
    expect(references.sort()).toEqual(["ROW-1", "ROW-2", "ROW-3", "ROW-4"]);
  });

  test("is limited to the lines of --rows", async () => {
    const { merchant, resolve, states } = await unknownBatch();
    const line = resolve("--not-created", "--rows", "3,5-9", "--yes", "--json");

    const { code, stdout } = await merchant.lenden(line);

    expect([code, await states()]).toEqual([0, ["CONFIRMED", "NOT_SENT", "UNCERTAIN", "NOT_SENT"]]);
    expect(JSON.parse(stdout)).toMatchObject([
      { line: 3, reference: "ROW-2", amount: "5", to: "01710000002", resolved: true },
      { line: 5, reference: "ROW-4", state: "NOT_SENT", code: "declared", resolved: true },
    ]);
  });

  test("rejects --rows for a file with the same rows on other lines", async () => {
    const { merchant, file, states } = await unknownBatch();
    const [header, ...rows] = readFileSync(file, "utf8").trim().split("\n");
    const reordered = fileOf([header, ...rows.reverse()].join("\r\n"));
    const resolve = ["payout", "batch", "resolve", reordered, "--not-created", "--yes"];

    const { code, stderr } = await merchant.lenden([...resolve, "--rows", "3"]);

    expect([code, await states()]).toEqual([2, threeUnknown]);
    expect(stderr).toContain("but in a different order");
    expect(await merchant.lenden(resolve)).toMatchObject({ code: 0 });
  });

  test("changes nothing without confirmation, without --not-created, or for known rows", async () => {
    const { merchant, resolve, states } = await unknownBatch();
    for (const [line, code, says] of [
      [resolve("--not-created"), 4, ["--yes"]],
      [resolve("--yes"), 2, ["--not-created is required. Nothing changed."]],
      [
        resolve("--not-created", "--rows", "1,2-3,77", "--yes"),
        2,
        ["the outcome of line 2 (ROW-1) is already known", "no row on line 1.", "line 77."],
      ],
    ] as const) {
      const ended = await merchant.lenden(line);
      expect([ended.code, ended.stdout, await states()]).toEqual([code, "", threeUnknown]);
      for (const text of says) expect(ended.stderr).toContain(text);
    }
  });

  test.each(["", "3-", "9-7", "0", "3;4", "a"])("rejects --rows %j", async (rows) => {
    const line = ["payout", "batch", "resolve", "a.csv", "--not-created", "--rows", rows];

    const { code, stderr } = await lenden(line);

    expect([code, stderr]).toEqual([2, expect.stringContaining("--rows")]);
  });

  test("P4: is rejected while another process sends the batch", async () => {
    const { merchant, resolve, states } = await unknownBatch();
    const holder = { pid: 1, lock: "?", machine: "m", since: new Date().toISOString() };
    await merchant.inLedger((ledger) => ledger.exec(heldBy(holder, "batches")));

    const { code, stderr } = await merchant.lenden(resolve("--not-created", "--yes"));

    expect([code, await states()]).toEqual([7, threeUnknown]);
    expect(stderr).toMatch(/process 1 on m, .*Nothing changed\./);
  });
});
