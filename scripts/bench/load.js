// Sends requests as fast as a server responds, with autocannon: 32 connections, one request on each.
// Usage: node load.js <node_modules with autocannon> <JSON: url, amount, account, references>, which
// prints requests a second. With references, each request is a signed payout.
import { createRequire } from "node:module";
import { join } from "node:path";
import { signedPayout } from "./signed-payout.js";

const [modules = "", json = ""] = process.argv.slice(2);
const { url, amount, account, references } = JSON.parse(json);
const autocannon = createRequire(join(modules, "load.js"))("autocannon");
// Signed before the clock starts.
const payouts = Array.from({ length: references ? amount + 32 : 0 }, (_, index) =>
  signedPayout(account, `${references}-${index}`, 100.5 + (index % 900)),
);

// autocannon itself reads the clock once a second.
let [startMs, endMs, accepted] = [0, 0, 0];
const run = autocannon({
  url,
  amount,
  connections: 32,
  headers: { "x-api-key": account.apiKey },
  requests: [
    references
      ? {
          method: "POST",
          setupRequest: (/** @type {object} */ one) => ({ ...one, ...payouts.pop() }),
        }
      : { method: "GET" },
  ],
});
run.on("start", () => {
  startMs = performance.now();
});
run.on("response", (/** @type {object} */ _client, /** @type {number} */ status) => {
  accepted += status === 200 ? 1 : 0;
  endMs = performance.now();
});
await run;
if (accepted !== amount) throw new Error(`${url}: ${accepted} of ${amount} requests succeeded`);
console.log(amount / ((endMs - startMs) / 1000));
