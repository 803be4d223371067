import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { errorOf } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";
import { checkPath, exported, fileOf } from "./files.ts";

const rows = (...lines: string[]) => fileOf(`ref,to,amount,name\n${lines.join("\n")}\n`);
const usual = ["A-1,01712345678,500,Mina", "A-2,01812345678,600,Karim", "A-3,01912345678,700,Das"];
const send = (file: string, ...flags: string[]) =>
  ["payout", "batch", "send", file, "--method", "bkash"].concat(flags);

test("--expect-new is the number of rows that are still to be sent", async () => {
  const ill = faults("createPayout:status-401");
  const merchant = await openMerchant({ faults: ill });
  const file = rows(...usual);
  const other = await merchant.lenden(send(file, "--expect-new", "2", "--json"));
  expect([other.code, errorOf(other)]).toMatchObject([2, { reason: "batch.expectation-differs" }]);
  expect(other.stderr).toContain("3 rows would be sent now, not 2");
  expect(await merchant.count("payouts")).toBe(0);
  expect((await merchant.lenden(send(file, "--expect-new", "3"))).code).toBe(4);
  ill.splice(0);
  const sent = await merchant.lenden(send(file, "--expect-new", "3", "--json"));
  expect(JSON.parse(sent.stdout)).toMatchObject({ sent: { rows: 3, total: "1800" } });
  for (const more of [[], ["--dry-run"]])
    expect((await merchant.lenden(send(file, "--expect-new", "3", ...more))).code).toBe(2);
  const none = await merchant.lenden(send(file, "--expect-new", "0", "--json"));
  expect(JSON.parse(none.stdout)).toMatchObject({ sent: { rows: 0, total: "0" } });
  expect(await merchant.count("payouts")).toBe(3);
});

test("--expect-new does not count rows that another batch sent", async () => {
  const merchant = await openMerchant();
  await merchant.lenden(send(rows(...usual.slice(0, 2))));
  const all = send(rows(...usual), "--name", "all");
  expect((await merchant.lenden([...all, "--expect-new", "3"])).code).toBe(2);
  expect((await merchant.lenden([...all, "--expect-new", "1"])).code).toBe(0);
});

test("check shows one number under two names, and amounts far above the others", async () => {
  const merchant = await openMerchant();
  const file = rows(...usual, "A-4,+8801712345678,501,Rahim", "A-5,01612345678,6001,Ana");
  const checked = await checkPath(merchant.lenden, file, ["--method", "bkash"]);
  expect(checked).toMatchObject({
    code: 0,
    warnings: [
      {
        reason: "batch.number-with-two-names",
        message: "line 5: 01712345678 is the number of Rahim, and of Mina on line 2.",
      },
      {
        reason: "batch.large-amount",
        message: "line 6: BDT 6,001.00 is more than ten times the median amount, BDT 600.00.",
      },
    ],
  });
  const same = rows("B-1,01712345678,500,Mina  Das", "B-2,8801712345678,5000,mina das");
  const calm = await checkPath(merchant.lenden, same, ["--method", "bkash"]);
  expect(calm).toMatchObject({ code: 0, warnings: [] });
});

test("the summary before sending has the rows whose other cells say that they are not to be paid", async () => {
  const merchant = await openMerchant();
  const file = fileOf("to,amount,Remarks\n01712345678,500,\n01812345678,600,On hold\n");
  const { code, stderr } = await merchant.lenden(send(file));
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^ *Held back: +1 row says/m)]);
  expect(stderr).toContain('line 3 (Remarks: "On hold")');
});

test("a file of failed rows names the batch that it repairs, and is not compared", async () => {
  const ill = faults("createPayout:status-400");
  const merchant = await openMerchant({ faults: ill });
  const file = rows(...usual);
  const failed = await merchant.lenden(send(file, "--json"));
  expect(failed.code).toBe(6);
  const { batch } = JSON.parse(failed.stdout);
  ill.splice(0);
  const text = await exported(merchant, file, "--only", "failed");
  const repair = fileOf(text.replace("500", "550"), "failed.csv");
  expect(await checkPath(merchant.lenden, repair)).toMatchObject({
    ...{ code: 0, repairs: batch, comparison: null },
  });
  expect((await merchant.lenden(["payout", "batch", "check", repair])).stdout).toContain(
    `Repairs    batch ${batch}, payroll.csv`,
  );
  const sent = await merchant.json(["payout", "batch", "send", repair]);
  const status = ["payout", "batch", "status", file];
  const { stdout } = await merchant.lenden([...status, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ batch, repairedBy: [sent.batch] });
  expect((await merchant.lenden(status)).stdout).toContain(`Repaired by  ${sent.batch}`);
  const next = rows("B-1,01712345678,500,Mina");
  expect(
    await checkPath(merchant.lenden, next, ["--method", "bkash", "--name", "next"]),
  ).toMatchObject({
    ...{ code: 0, repairs: null, comparison: { lastBatch: { batch } } },
  });
});
