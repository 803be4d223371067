// Wrong: signs the amount with two decimals, and sends it without them.
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { LENDEN_BASE_URL: url, LENDEN_API_KEY: key, LENDEN_PAYOUT_SECRET: secret } = process.env;

async function call(path, body, signature) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(url + path, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: signature ? { ...headers, "x-payout-signature": signature } : headers,
    signal: AbortSignal.timeout(1_000),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()).data;
}

async function pay(merchantRef, amount, recipientNumber) {
  const timestamp = Math.floor(Date.now() / 1_000);
  const text = `${amount.toFixed(2)}:${merchantRef}:${timestamp}`;
  const signature = createHmac("sha256", secret).update(text).digest("hex");
  const paymentMethodId = "665f1c2ab8e4";
  const body = { amount, merchantRef, recipientNumber, timestamp, paymentMethodId };
  const { payoutId } = await call("/payout/create-by-server", body, signature);
  return (await call(`/payout/retrieve/${payoutId}`)).status;
}

const results = ["order,status"];
for (const line of readFileSync(process.argv[2], "utf8").trim().split("\n").slice(1)) {
  const [, order, amount, to] = line.split(",");
  const attempt = () => pay(order, Number(amount), to);
  const status = await attempt()
    .catch(attempt)
    .catch(() => "unknown");
  if (status === "unknown") process.exitCode = 1;
  results.push(`${order},${status}`);
}
writeFileSync(join(process.env.LENDEN_TORTURE_DIR, "results.csv"), results.join("\n"));
