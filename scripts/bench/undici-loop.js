// The fastest script that could send payouts: it signs and sends with undici, and stores nothing.
// Usage: node scripts/bench/undici-loop.js <base URL> <rows> <in flight>
import { Agent, request } from "undici";
import { accountOf } from "./measure.js";
import { signedPayout } from "./signed-payout.js";

const [baseUrl = "", rows, inFlight] = process.argv.slice(2);
const account = accountOf(baseUrl);
const dispatcher = new Agent({ connections: Number(inFlight) });
let next = 0;
await Promise.all(Array.from({ length: Number(inFlight) }, work));
await dispatcher.close();

async function work() {
  for (let row = next++; row < Number(rows); row = next++) {
    const payout = signedPayout(account, `LOOP-${row}`, 100.5 + (row % 900));
    const url = `${baseUrl}/payout/create-by-server`;
    const { body } = await request(url, { method: "POST", dispatcher, ...payout });
    const response = await body.text();
    if (!response.includes(`"LOOP-${row}"`)) throw new Error(`not for this payout: ${response}`);
  }
}
