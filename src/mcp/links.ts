import type { Context } from "../cli/command/context.ts";
import type { Paisa } from "../domain/amount.ts";
import { Failure, usage } from "../domain/failure.ts";
import { type Mobile, mobileText } from "../domain/mobile.ts";
import type { Operation } from "../ledger/operation.ts";
import { createPayment, possibleDuplicatePayment } from "../operations/create.ts";
import type { Call } from "./tool.ts";

export interface LinkOrder {
  amount: Paisa;
  description: string;
  method: string | undefined;
  payer: Mobile | undefined;
}

const dayMs = 24 * 60 * 60_000;

/** Creates a payment, or returns the one with the same values that this login created within a day. */
export async function paymentLink(order: LinkOrder, call: Call): Promise<object> {
  const { config, api } = call.context;
  const { numberFormat, method: usual, redirectUrl, callbackUrl } = await config.settings();
  const method = order.method ?? usual?.value;
  const missing = [
    ...(method === undefined ? ["method is missing: the profile has none."] : []),
    ...(redirectUrl ? [] : ["The profile has no redirect-url, which a payment needs."]),
    ...(callbackUrl ? [] : ["The profile has no callback-url, which a payment needs."]),
  ];
  if (method === undefined || !redirectUrl || !callbackUrl)
    throw usage(missing, "To see how to set what is missing, run 'lenden profile set --help'.");
  const paymentMethodId = await api.methodId({ method, methodId: undefined, dryRun: false });
  const request = {
    description: order.description,
    paymentMethodId,
    redirect_url: redirectUrl.value,
    callback_url: callbackUrl.value,
    ...(order.payer && { suggestedPayerNumber: mobileText(order.payer, numberFormat.value) }),
  };
  const known = await linkOf(order.amount, request, call.context);
  if (known) return linkJson(known, true);
  const how = { again: false, methodName: method };
  try {
    const { payment, earlier } = await createPayment(order.amount, request, how, await call.deps());
    if (earlier) call.notice(...possibleDuplicatePayment(earlier));
    return { ...payment, existing: false };
  } catch (error) {
    // Another process has created the same one meanwhile.
    const isDuplicate = error instanceof Failure && error.reason === "payment.duplicate";
    const other = isDuplicate ? await linkOf(order.amount, request, call.context) : undefined;
    if (other) return linkJson(other, true);
    throw error;
  }
}

interface Wanted {
  description: string;
  paymentMethodId: string;
  suggestedPayerNumber?: string;
}

/**
 * The newest payment of a day with these values that this login recorded. One that was Cancelled collects nothing. The
 * page of another login may be anyone's: the API shows it only at creation, so it cannot be compared.
 */
async function linkOf(
  amount: Paisa,
  wanted: Wanted,
  { ledger, host }: Context,
): Promise<Operation | undefined> {
  const own = await ledger.own();
  const since = new Date(host.now() - dayMs).toISOString();
  const range = { since, minPaisa: amount, maxPaisa: amount, states: ["CONFIRMED"] as const };
  for await (const one of own.list("payment", range)) {
    const { asked, status, paymentUrl, remoteId, login } = one;
    if (login !== own.login) continue;
    const isSame =
      asked.description === wanted.description &&
      asked.paymentMethodId === wanted.paymentMethodId &&
      (asked.suggestedPayerNumber ?? null) === (wanted.suggestedPayerNumber ?? null);
    if (!isSame || status === "Cancelled" || paymentUrl === null || remoteId === null) continue;
    await own.assertRecorded([one]);
    return one;
  }
  return undefined;
}

/** A payment of the ledger, with the names of the API. */
function linkJson(
  { remoteId, status, paymentUrl, asked, createdAt }: Operation,
  existing: boolean,
) {
  return {
    transactionId: remoteId,
    status,
    payment_url: paymentUrl,
    amount: asked.amount ?? null,
    description: asked.description,
    createdAt,
    existing,
  };
}
