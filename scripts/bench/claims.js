// Claims payouts without an equal one in a ledger in memory, and prints the microseconds of CPU of each. `beside.js` runs a
// copy of this file beside the helpers of a checkout.
// Usage: node claims.js <number of claims>
const helpers = "./small-ledger.js";
/** @type {{ memoryLedger: () => Promise<{ ledger: object }>, payout: (reference: string, given: object) => object, claim: (ledger: object, intent: object) => Promise<{ kind: string }> }} */
const { memoryLedger, payout, claim } = await import(helpers);

const { ledger } = await memoryLedger();
const count = Number(process.argv[2]);
const warm = 1_000;
let start = process.cpuUsage();
for (let number = -warm; number < count; number += 1) {
  if (number === 0) start = process.cpuUsage();
  const recipientNumber = `017${String(number + warm).padStart(8, "0")}`;
  const asked = { amount: 5, merchantRef: `R${number}`, paymentMethodId: "m1", recipientNumber };
  const { kind } = await claim(ledger, payout(`R${number}`, { asked }));
  if (kind !== "new") throw new Error(`a claim is ${kind}`);
}
const { user, system } = process.cpuUsage(start);
console.log((user + system) / count);
