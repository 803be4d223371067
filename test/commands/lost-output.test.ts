import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { errorOf } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";
import { serve } from "../support/server.ts";
import { unknownBatch } from "./unknown-batch.ts";

/** A standard output on a disk that is full after so many writes. */
function diskFor(writes: number): Writable {
  let left = writes;
  const stdout = new Writable({
    write: (_data, _encoding, done) => {
      left -= 1;
      done(left < 0 ? Object.assign(new Error("no space"), { code: "ENOSPC" }) : null);
    },
  });
  stdout.on("error", () => {}); // What is lost is the error of the command.
  return stdout;
}

const lost = { code: 75, reason: "output.result-lost", effect: "accepted" };

test.each([0, 1, 5])(
  "verify-api reports that payouts were sent if the disk is full after %i results",
  async (results) => {
    const merchant = await openMerchant();
    const host = { stdout: diskFor(results) };
    const { code, stderr } = await merchant.lenden(["verify-api", "--json"], { host });
    const error = errorOf({ stderr });
    expect({ code, ...error }).toMatchObject(lost);
    expect(error.hint).toMatch(/^Do not run the command again/);
    expect(await merchant.count("payouts")).toBeGreaterThan(0);
  },
);

test("verify-api reports that payouts were sent if the disk is full before the end of its list", async () => {
  const merchant = await openMerchant();
  const writes = JSON.parse((await merchant.lenden(["verify-api", "--json"])).stdout).length;
  const host = { stdout: diskFor(writes) };
  const { code, stderr } = await merchant.lenden(["verify-api", "--json"], { host });
  expect({ code, ...errorOf({ stderr }) }).toMatchObject(lost);
});

test("verify-api --dry-run sends nothing, and says so if the disk is full", async () => {
  const merchant = await openMerchant();
  const line = ["verify-api", "--dry-run", "--json"];
  const { code, stderr } = await merchant.lenden(line, { host: { stdout: diskFor(2) } });
  expect({ code, ...errorOf({ stderr }) }).toMatchObject({
    code: 1,
    reason: "output.not-written",
    effect: "nothing-sent",
  });
});

test("callback test reports what it sent if the disk is full", async () => {
  const merchant = await openMerchant();
  const handler = await serve(() => ({ do: "answer", status: 200, body: "" }));
  const line = ["callback", "test", `${handler.baseUrl}/`, "--only", "forged", "--settle", "1ms"];
  const { code, stderr } = await merchant.lenden([...line, "--json"], {
    host: { stdout: diskFor(0) },
  });
  expect({ code, ...errorOf({ stderr }) }).toMatchObject(lost);
});

test("payout batch resolve reports what it recorded if the disk is full", async () => {
  const { merchant, resolve, states } = await unknownBatch();
  const resolveOnFullDisk = async () => {
    const line = resolve("--not-created", "--yes", "--json");
    const { code, stderr } = await merchant.lenden(line, { host: { stdout: diskFor(0) } });
    return { code, ...errorOf({ stderr }) };
  };
  const error = await resolveOnFullDisk();
  expect(error).toMatchObject(lost);
  expect(error).toMatchObject({ message: expect.not.stringContaining("request was sent") });
  expect(await states()).toEqual(["CONFIRMED", "NOT_SENT", "NOT_SENT", "NOT_SENT"]);
  // Nothing is left to record.
  expect(await resolveOnFullDisk()).toMatchObject({ code: 1, reason: "output.not-written" });
});
