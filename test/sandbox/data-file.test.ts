import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import { completedPayment, paymentBody, start } from "./running.ts";

test("a restart on the data file keeps the key, the secret and the records", async () => {
  const dataFile = join(folder(), "sandbox.db");
  const first = await start({ dataFile, seed: 1 });
  const transactionId = await completedPayment(first);
  const payout = await first.payout();
  const before = await first.get(`/payment/retrieve/${transactionId}`);
  await first.close();
  const second = await start({ dataFile, seed: 2 });
  expect([second.apiKey, second.payoutSecret]).toEqual([first.apiKey, first.payoutSecret]);
  expect((await second.get(`/payment/retrieve/${transactionId}`)).body).toEqual(before.body);
  expect((await second.payout()).body.data.payoutId).toBe(payout.body.data.payoutId);
});

test("a seed makes the same key and ids, also beside the ids of an earlier run", async () => {
  const dataFile = join(folder(), "sandbox.db");
  const idOf = async (options: { dataFile?: string }) => {
    const sandbox = await start({ ...options, seed: 42 });
    const { body } = await sandbox.post("/payment/create", paymentBody);
    await sandbox.close();
    return [sandbox.apiKey, body.data.transactionId];
  };
  const [key, id] = await idOf({ dataFile });
  expect(id).toMatch(/^TX[0-9A-HJKMNP-TV-Z]{12}$/);
  expect(await idOf({})).toEqual([key, id]);
  const [keyAgain, otherId] = await idOf({ dataFile });
  expect(keyAgain).toBe(key);
  expect(otherId).not.toBe(id);
});

test("a record that completed itself stays completed where nothing else would", async () => {
  const dataFile = join(folder(), "sandbox.db");
  const first = await start({ dataFile, autoCompleteMs: 0 });
  const { body } = await first.post("/payment/create", paymentBody);
  const path = `/payment/retrieve/${body.data.transactionId}`;
  const seen = await first.get(path);
  await first.close();
  expect(seen.body.data.status).toBe("Completed");
  expect((await (await start({ dataFile })).get(path)).body).toEqual(seen.body);
});

test("the data file and the files of SQLite beside it are private", async () => {
  const inside = folder();
  const dataFile = join(inside, "sandbox.db");
  writeFileSync(dataFile, "", { mode: 0o644 });
  const sandbox = await start({ dataFile });
  await completedPayment(sandbox);
  const modes = readdirSync(inside).map((name) => statSync(join(inside, name)).mode & 0o777);
  expect(modes.length).toBeGreaterThan(1);
  expect(new Set(modes)).toEqual(new Set([0o600]));
});

test("rejects a symbolic link, a directory, a missing directory and another kind of file", async () => {
  const inside = folder();
  const target = join(inside, "target");
  writeFileSync(target, "");
  symlinkSync(target, join(inside, "link"));
  writeFileSync(join(inside, "text"), "this is no database, but it is long enough ".repeat(50));
  for (const name of ["link", "", "missing/file", "text"]) {
    const attempt = startSandbox({ dataFile: join(inside, name), now: Date.now });
    await expect(attempt, name).rejects.toMatchObject({ name: "Failure", kind: "usage" });
  }
  expect(statSync(target).size).toBe(0);
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "lenden-sandbox-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
