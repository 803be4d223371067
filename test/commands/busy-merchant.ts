import { openMerchant, paidPayment, paymentOf, payoutOf, refundOf } from "../support/merchant.ts";

/** Two payments (the first one paid), two payouts and a refund. */
export async function busyMerchant() {
  const merchant = await openMerchant();
  const paid = await paidPayment(merchant, "first");
  const payment = await merchant.id(paymentOf("second"));
  const payouts = [await merchant.id(payoutOf("REF-1")), await merchant.id(payoutOf("REF-2"))];
  const refund = await merchant.id(refundOf(paid, "40"));
  return { merchant, paid, payment, payouts, refund };
}
