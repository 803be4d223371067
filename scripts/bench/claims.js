// Claims payouts without an equal one in a ledger in memory, and prints the microseconds of CPU of each. Each is released,
// as in a command or a batch, which is not measured. `beside.js` runs a copy of this file beside the helpers of a checkout.
// Usage: node claims.js <number of claims>
const helpers = "./small-ledger.js";
/** @type {{ memoryLedger: () => Promise<{ ledger: object }>, payout: (reference: string, given: object) => object, claim: (ledger: object, intent: object) => Promise<{ kind: string, operation: object }>, record: (ledger: object, operation: object, outcome: object) => Promise<object> }} */
const { memoryLedger, payout, claim, record } = await import(helpers);

const { ledger } = await memoryLedger();
const count = Number(process.argv[2]);
const warm = 1_000;
const outcome = { state: "NOT_SENT", sent: false, code: "unreachable" };
let spent = 0;
for (let first = -warm; first < count; first += 20) {
  const intents = Array.from({ length: 20 }, (_, place) => intentOf(first + place));
  const answers = [];
  const start = process.cpuUsage();
  for (const intent of intents) answers.push(await claim(ledger, intent));
  const { user, system } = process.cpuUsage(start);
  if (first >= 0) spent += user + system;
  for (const { kind, operation } of answers) {
    if (kind !== "new") throw new Error(`a claim is ${kind}`);
    await record(ledger, operation, outcome);
  }
}
console.log(spent / count);

/** @param {number} number */
function intentOf(number) {
  const recipientNumber = `017${String(number + warm).padStart(8, "0")}`;
  const asked = { amount: 5, merchantRef: `R${number}`, paymentMethodId: "m1", recipientNumber };
  return payout(`R${number}`, { asked });
}
