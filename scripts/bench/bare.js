// What the quickest script would do: sign and send with undici, 32 at a time, and keep nothing.
// Usage: node scripts/bench/bare.js <base URL> <rows> [<at a time>], which prints payouts per second.
import { createHmac } from "node:crypto";
import { Agent, request } from "undici";

const [, , baseUrl, rows, concurrency = "32"] = process.argv;
const dispatcher = new Agent({ connections: Number(concurrency) });
const start = performance.now();
let next = 0;
await Promise.all(Array.from({ length: Number(concurrency) }, work));
console.log(Number(rows) / ((performance.now() - start) / 1000));
await dispatcher.close();

async function work() {
  for (let row = next++; row < Number(rows); row = next++) {
    const body = {
      amount: 100.5 + (row % 900),
      merchantRef: `BARE-${row}`,
      timestamp: Math.floor(Date.now() / 1000),
      recipientNumber: "01712345678",
      paymentMethodId: "M1",
    };
    const signature = createHmac("sha256", "a-payout-secret-of-the-bench")
      .update(`${body.amount}:${body.merchantRef}:${body.timestamp}`)
      .digest("hex");
    const answer = await request(`${baseUrl}/payout/create-by-server`, {
      method: "POST",
      headers: {
        "x-api-key": "sk_sandbox_abc-abcdefghijkl-xyz",
        "x-payout-signature": signature,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
      dispatcher,
    });
    const { data } = await answer.body.json();
    if (data.merchantRef !== body.merchantRef) throw new Error("another payout");
  }
}
