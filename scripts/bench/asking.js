// Asking the local sandbox directly, and what its service wants to be asked.
import { createHmac } from "node:crypto";

/** The id of a method of the sandbox's. */
export const bkash = "665f1c2ab8e4";

/** A payout's body and its headers, signed now. */
export function signedPayout({ apiKey, payoutSecret }, { merchantRef, amount = 5 }) {
  const body = {
    amount,
    merchantRef,
    timestamp: Math.floor(Date.now() / 1000),
    recipientNumber: "01712345678",
    paymentMethodId: bkash,
  };
  const signature = createHmac("sha256", payoutSecret)
    .update(`${body.amount}:${body.merchantRef}:${body.timestamp}`)
    .digest("hex");
  const headers = {
    "x-api-key": apiKey,
    "x-payout-signature": signature,
    "content-type": "application/json",
  };
  return { body, headers, signature };
}

/** The text of an answer; with a body it is a POST. Fails unless the sandbox agrees. */
export async function answerText({ baseUrl, apiKey }, path, { body, headers } = {}) {
  const answer = await fetch(baseUrl + path, {
    method: body ? "POST" : "GET",
    headers: { "x-api-key": apiKey, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return text;
}
