import { createHmac } from "node:crypto";

/**
 * The headers and the body of a payout request, signed now.
 *
 * @param {import("./measure.js").Account} account
 * @param {string} merchantRef
 * @param {number} amount
 */
export function signedPayout({ apiKey, payoutSecret }, merchantRef, amount) {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", payoutSecret)
    .update(`${amount}:${merchantRef}:${timestamp}`)
    .digest("hex");
  return {
    headers: {
      "x-api-key": apiKey,
      "x-payout-signature": signature,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      amount,
      merchantRef,
      timestamp,
      recipientNumber: "01712345678",
      paymentMethodId: "665f1c2ab8e4",
    }),
  };
}
