// Wrong: repeats a refund after a lost response, although a refund has no reference.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
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

const shop = "https://shop.example";
const urls = { redirect_url: shop, callback_url: shop, paymentMethodId: "665f1c2ab8e4" };
const rows = readFileSync(process.argv[2], "utf8").trim().split("\n").slice(1);
for (const [kind, order, amount, accountNumber] of rows.map((row) => row.split(","))) {
  const [paid, refunded] = ["payment", "refund"].map((name) => join(state, `${name}-${order}`));
  if (existsSync(kind === "refund" ? refunded : paid)) continue;
  if (kind === "payment") {
    const payment = { amount: Number(amount), description: `Order ${order}`, ...urls };
    writeFileSync(paid, (await call("/payment/create", payment)).transactionId);
    await delay(150); // the customer pays
  } else {
    const transactionId = readFileSync(paid, "utf8");
    const accountType = "PERSONAL_ACCOUNT";
    const refund = { transactionId, amount: Number(amount), accountType, accountNumber };
    const send = () => call("/refund/create-a-request", refund);
    await send().catch(send);
    writeFileSync(refunded, "");
  }
}
