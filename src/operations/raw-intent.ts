import { contract } from "../api/contract/index.ts";
import { type Paisa, paisaOf } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { readReference } from "../domain/reference.ts";
import type { Operation } from "../ledger/operation.ts";
import { claimReference } from "../payouts/claim.ts";
import { keptTexts, orderIn, orderOf, type PayoutOrder } from "../payouts/order.ts";
import { usedBefore } from "../payouts/record.ts";
import type { Repeat } from "./create.ts";
import { beginPayment, beginRefund } from "./create.ts";
import { plainPath } from "./raw-path.ts";
import type { World } from "./world.ts";

/** A call that a person wrote by hand. */
export interface Call {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  path: string;
  body: Record<string, unknown> | undefined;
}

export type Made = "payment" | "payout" | "refund";

const paths: [Made, string][] = [
  ["payment", contract.createPayment.path],
  ["payout", contract.createPayout.path],
  ["refund", contract.createRefund.path],
];

/** What a call would make, if it makes anything: that is money, and belongs in the ledger. */
export function madeBy({ method, path }: Call): Made | undefined {
  const { plain } = plainPath(path);
  return method === "POST" ? paths.find(([, one]) => one === plain)?.[0] : undefined;
}

/**
 * True if the whole URL creates something although the path does not: the base URL ends before or after the
 * prefix of the API, and the call would be sent without its checks.
 */
export function hidesCreation(call: Call, baseUrl: string): boolean {
  if (call.method !== "POST" || madeBy(call) !== undefined) return false;
  const { plain } = plainPath(new URL(baseUrl).pathname + call.path);
  return paths.some(([, one]) => plain.endsWith(one));
}

interface Intended {
  operation: Operation;
  /** An earlier run left it without an answer. */
  isResumed: boolean;
  /** An earlier payout of the same amount to the same recipient. */
  earlier?: Operation | undefined;
}

/**
 * Writes down what a call is about to make.
 *
 * @throws Failure where the ledger forbids it; nothing was sent
 */
export function intended(
  kind: Made,
  body: Record<string, unknown>,
  how: Repeat,
  world: World,
): Promise<Intended> {
  return kind === "payout" ? claimed(body, how, world) : begun(kind, body, how, world);
}

/** Of a payout all must be readable that decides who gets how much, or its reference means nothing. */
async function claimed(
  body: Record<string, unknown>,
  how: Repeat,
  world: World,
): Promise<Intended> {
  const problems = missing("payout", body, decisive.payout);
  const reference = readReference(String(body.merchantRef ?? ""));
  if (!reference.ok) problems.unshift(`merchantRef: ${reference.problem}`);
  const order = orderIn(body);
  if (problems.length > 0 || !order) throw usage(problems, "Nothing was sent.");
  await checkTexts(order, world);
  const { claim, earlier } = await claimReference(order, how, world);
  const { kind, operation } = claim;
  if (kind === "finished" && operation.state !== "CONFIRMED") throw usedBefore(order, operation);
  return { operation, isResumed: kind === "resumed", earlier };
}

/** An earlier call may have made it, and another body under its reference is a mistake. */
async function checkTexts(order: PayoutOrder, world: World): Promise<void> {
  const before = await (await world.ledger()).find(order.reference);
  if (before?.reference !== order.reference || before.state === "CONFIRMED") return;
  const kept = keptTexts(order, orderOf(before));
  if (kept)
    throw usage(
      [`${order.reference} was asked for with other texts: ${kept}.`],
      "Nothing was sent.",
    );
}

const decisive = {
  payout: ["merchantRef", "recipientNumber", "paymentMethodId"],
  refund: ["transactionId", "accountNumber", "accountType"],
};

/** What must be readable before money leaves. */
function missing(kind: Made, body: Record<string, unknown>, texts: string[]): string[] {
  const absent = texts.filter((name) => typeof body[name] !== "string" || body[name] === "");
  return [
    ...(amountIn(body) ? [] : [`amount: A ${kind} needs one, as a number above zero.`]),
    ...absent.map((name) => `${name}: A ${kind} needs one, as a text.`),
  ];
}

/** A payment or a refund: checked and recorded like those of the commands. */
async function begun(
  kind: "payment" | "refund",
  body: Record<string, unknown>,
  how: Repeat,
  world: World,
): Promise<Intended> {
  const amountPaisa = amountIn(body);
  const asked = documented(kind, body);
  if (kind === "payment")
    return { operation: await beginPayment({ amountPaisa, asked }, how, world), isResumed: false };
  const problems = missing(kind, body, decisive.refund);
  if (problems.length > 0 || amountPaisa === null) throw usage(problems, "Nothing was sent.");
  const request = { amountPaisa, payment: String(body.transactionId), asked };
  return { operation: await beginRefund(request, how, world), isResumed: false };
}

function amountIn({ amount }: Record<string, unknown>): Paisa | null {
  return (typeof amount === "number" ? paisaOf(amount) : undefined) ?? null;
}

const fields = {
  payment: [
    ...["amount", "description", "paymentMethodId", "redirect_url", "callback_url", "note"],
    ...["suggestedPayerNumber", "gatewayType"],
  ],
  refund: ["transactionId", "amount", "accountType", "accountNumber", "note"],
};

/** A person may have put anything beside the documented fields, a secret too. */
function documented(
  kind: keyof typeof fields,
  body: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields[kind].includes(name)));
}
