// Requests as fast as a server answers them, with autocannon: 32 connections, one request at a time
// on each. A process of its own, which prints how many a second there were.
// Usage: node load.js <node_modules with autocannon> <what to ask: JSON>
import { createRequire } from "node:module";
import { join } from "node:path";
import { signedPayout } from "./asking.js";

const [, , modules, text] = process.argv;
const { url, amount, references, ...account } = JSON.parse(text);
const autocannon = createRequire(join(modules, "load.js"))("autocannon");
// Signed before the clock runs, and each with a reference of its own.
const payouts = references && Array.from({ length: amount + 32 }, (_, index) => payout(index));

// autocannon itself looks at the clock once a second.
let [startedMs, endedMs, right] = [0, 0, 0];
const run = autocannon({
  url,
  amount,
  connections: 32,
  headers: { "x-api-key": account.apiKey },
  requests: [payouts ? { method: "POST", setupRequest: nextPayout } : { method: "GET" }],
});
run.on("start", () => {
  startedMs = performance.now();
});
run.on("response", (_client, status) => {
  right += status === 200 ? 1 : 0;
  endedMs = performance.now();
});
await run;
if (right !== amount) throw new Error(`${url}: ${right} of ${amount} answers were right`);
console.log(amount / ((endedMs - startedMs) / 1000));

function nextPayout(request) {
  return { ...request, ...payouts.pop() };
}

function payout(index) {
  const fields = { merchantRef: `${references}-${index}`, amount: 100.5 + (index % 900) };
  const { body, headers } = signedPayout(account, fields);
  return { headers, body: JSON.stringify(body) };
}
