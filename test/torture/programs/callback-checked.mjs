// Creates a payment for each order, and calls it paid only if its own record is Completed, whatever a callback says.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const { LENDEN_BASE_URL: url, LENDEN_API_KEY: key, LENDEN_TORTURE_DIR: state } = process.env;

async function call(path, body) {
  const response = await fetch(url + path, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: { "x-api-key": key, "content-type": "application/json" },
    signal: AbortSignal.timeout(1_000),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()).data;
}

const statuses = new Map();
const fileOf = (order) => join(state, `payment-${order}`);

async function check(order) {
  const { status } = await call(`/payment/retrieve/${readFileSync(fileOf(order), "utf8")}`);
  statuses.set(order, status);
}

const server = createServer(async (request, response) => {
  const order = new URL(request.url, "http://localhost").searchParams.get("order");
  const isKnown = await check(order).then(
    () => true,
    () => false,
  );
  response.writeHead(isKnown ? 204 : 503).end();
}).listen(0, "127.0.0.1");
await new Promise((ready) => server.once("listening", ready));
const shop = `http://${process.argv[3] ?? "127.0.0.1"}:${server.address().port}`;

const rows = readFileSync(process.argv[2], "utf8").trim().split("\n").slice(1);
for (const [, order, amount] of rows.map((row) => row.split(","))) {
  statuses.set(order, "unknown");
  if (existsSync(fileOf(order))) continue;
  const payment = { amount: Number(amount), description: order, paymentMethodId: "665f1c2ab8e4" };
  const urls = { redirect_url: shop, callback_url: `${shop}/?order=${order}` };
  const { transactionId } = await call("/payment/create", { ...payment, ...urls });
  writeFileSync(fileOf(order), transactionId);
}
await delay(400); // Customers pay.
for (const order of statuses.keys()) await check(order);
const results = [...statuses].map((row) => row.join(","));
writeFileSync(join(state, "results.csv"), ["order,status", ...results].join("\n"));
server.close();
server.closeAllConnections();
