import { expect, test } from "vitest";
import { paymentBody, type Sandbox, start } from "./running.ts";

test("exchanges are listed in order, after a number, without the sandbox's own", async () => {
  const sandbox = await start();
  await sandbox.get("/payment/methods");
  await sandbox.get("/local/requests/0");
  await sandbox.post("/payment/create", { amount: 1 });
  await sandbox.get("/nowhere");
  const all = await exchanges(sandbox, 0);
  expect(all).toMatchObject([
    { number: 1, method: "GET", path: "/cp/api/v1/payment/methods", status: 200, fault: null },
    { number: 2, method: "POST", status: 400, request: { body: { amount: 1 } } },
    { number: 3, path: "/cp/api/v1/nowhere", status: 404 },
  ]);
  expect(await exchanges(sandbox, 2)).toEqual(all.slice(2));
  expect(await exchanges(sandbox, 3)).toEqual([]);
  expect((await sandbox.get("/local/requests/last")).status).toBe(400);
});

test("neither a key nor a secret nor a signature is recorded", async () => {
  const sandbox = await start();
  const signature = "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592";
  await sandbox.payout({}, { signature });
  const { text } = await sandbox.get("/local/requests/0");
  expect(text).toContain(`sk_sandbox_…${sandbox.apiKey.slice(-3)}`);
  for (const secret of [sandbox.apiKey, sandbox.payoutSecret, signature]) {
    expect(text).not.toContain(secret);
  }
});

test("no response is larger than what lenden accepts", async () => {
  const sandbox = await start();
  const description = "x".repeat(15_000);
  for (let index = 0; index < 100; index += 1) {
    await sandbox.post("/payment/create", { ...paymentBody, description });
  }
  await sandbox.post("/payment/create", { ...paymentBody, description: "x".repeat(500_000) });
  const first = await sandbox.get("/local/requests/0");
  expect(first.text.length).toBeLessThan(1024 * 1024);
  const last = await exchanges(sandbox, 100);
  expect(last).toMatchObject([{ request: { body: "(too large to store)" } }]);
});

async function exchanges(sandbox: Sandbox, after: number): Promise<{ number: number }[]> {
  return JSON.parse((await sandbox.get(`/local/requests/${after}`)).text).data;
}
