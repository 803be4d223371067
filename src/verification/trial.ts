import type { Client } from "../api/client.ts";
import type { Data } from "../api/contract/endpoint.ts";
import type { PaymentMethod, ServiceContract } from "../api/contract/index.ts";
import type { Answer } from "../api/response.ts";
import { amountNumber, type Paisa, paisaOf } from "../domain/amount.ts";
import { once } from "../domain/collect.ts";
import { Failure } from "../domain/failure.ts";
import { isUnresolved } from "../domain/state.ts";
import type { Operation, Outcome } from "../ledger/operation.ts";
import { createPayment, createRefund } from "../operations/create.ts";
import { checkClock, checkStop, type OperationDeps } from "../operations/deps.ts";
import { deniedBy } from "../operations/limits.ts";
import { recorded } from "../operations/record-outcome.ts";
import {
  attempted,
  dataOf,
  describe,
  evidenceOf,
  provesNothingDone,
  rejectedCreation,
  resolveHint,
  unsent,
} from "../operations/response-failure.ts";
import { requestRecord } from "../operations/status.ts";
import { triggerPayment } from "../operations/status-transition.ts";

export interface TrialOptions {
  /** Begins every reference, and is every description. */
  run: string;
  amountPaisa: Paisa;
  /** As they are sent. */
  recipients: readonly [string, string];
  /** The method of all requests; by default the first one of the account. */
  methodId: string | undefined;
  urls: { redirect_url: string; callback_url: string };
  /** How long after the first payout the same one is sent again. */
  pauseMs: number;
  /** Signs payouts with another secret than the account's. */
  wronglySigning: Client;
  /** Sleeps, and shows how long. */
  wait(ms: number): Promise<void>;
}

type Order = Parameters<Client["createPayout"]>[0];
type Created = Data<ServiceContract["createPayout"]>;

/** One request to create a payout; `failure` says why it created none, or that this is unknown. */
interface Sent {
  answer: Exclude<Answer<Created>, { kind: "unsent" }>;
  operation: Operation;
  failure: Failure | undefined;
}

/** What the assumptions are tried with; each record is created when it is first needed. */
export type Trial = ReturnType<typeof createTrial>;

export function createTrial(options: TrialOptions, deps: OperationDeps) {
  const { run, amountPaisa, recipients, methodId } = options;
  const { client } = deps;
  const amount = amountNumber(amountPaisa);
  const otherAmount = amountNumber(amountPaisa + 100n);
  const send = createSender(deps);

  const methods = once(async (): Promise<[PaymentMethod, ...PaymentMethod[]]> => {
    const listed = dataOf(await client.listMethods({}));
    const isChosen = ({ id }: PaymentMethod) => id === methodId;
    const [first, ...others] = [...listed].sort((a, b) => +isChosen(b) - +isChosen(a));
    if (first) return [first, ...others];
    throw new Failure("api.unusable-response", "The account has no payment method.", {
      hint: "Enable a payment method in the merchant dashboard, then run the same command again.",
    });
  });
  const orderOf = async (place: number): Promise<Order> => ({
    amount,
    merchantRef: `${run}-${place}`,
    recipientNumber: recipients[0],
    recipientName: "Test",
    description: run,
    paymentMethodId: (await methods())[0].id,
  });

  /** Sends a request that the API has to reject, then a right one with the same reference. */
  const afterRejection = async (place: number, change: Partial<Order>, by: Client) => {
    const order = await orderOf(place);
    const wrong = await send({ ...order, ...change }, { by });
    if (wrong.answer.kind === "data") return { wrong, right: undefined };
    const right = await send({ ...order, amount: otherAmount }, { ownsReference: true });
    const created = right.answer.kind === "data" ? right.answer.data : undefined;
    // The amount of the payout shows which request created it.
    const isOfWrong = created?.amount === amount;
    if (created) await recordCreator(wrong.operation, isOfWrong ? created : undefined, deps);
    return { wrong, right: { ...right, isOfWrong } };
  };

  const payout = once(async () => {
    const order = await orderOf(1);
    const { answer, failure } = await send(order, { ownsReference: true });
    const receivedMs = deps.now();
    if (answer.kind !== "data") throw failure;
    const { payoutId, createdAt } = answer.data;
    const { startedMs: sentMs = receivedMs } = answer.times;
    const record = await requestRecord("payout", payoutId, deps);
    return { order, payoutId, createdAt, sentMs, receivedMs, record };
  });
  return {
    deps,
    run,
    otherAmount,
    otherRecipient: recipients[1],
    methods,
    send,
    /** The first payout, its order, and the API's record of it. */
    payout,
    ...createRefunded(options, methods, deps),
    wrongSignature: once(() => afterRejection(2, {}, options.wronglySigning)),
    unknownMethod: once(() => afterRejection(3, { paymentMethodId: `${run}-none` }, client)),
    /** Waits until the pause after the first payout is over. */
    untilPauseIsOver: async (): Promise<void> => {
      const endMs = (await payout()).sentMs + options.pauseMs;
      if (endMs > deps.now()) await options.wait(endMs - deps.now());
      checkStop(deps);
    },
  };
}

/** The ID of a completed payment, and that of a refund of it. */
function createRefunded(
  { run, amountPaisa, recipients, urls }: TrialOptions,
  methods: () => Promise<[PaymentMethod, ...PaymentMethod[]]>,
  deps: OperationDeps,
) {
  const payment = once(async () => {
    const paymentMethodId = (await methods())[0].id;
    const request = { description: run, paymentMethodId, note: run, ...urls };
    const created = await createPayment(amountPaisa, request, { again: true }, deps);
    const { transactionId } = created.payment;
    await triggerPayment(transactionId, deps);
    return transactionId;
  });
  const refund = once(async () => {
    const account = { accountType: "PERSONAL_ACCOUNT", accountNumber: recipients[0] } as const;
    const request = { transactionId: await payment(), ...account, note: run };
    return (await createRefund(amountPaisa, request, { again: true }, deps)).refundRequestId;
  });
  return { payment, refund };
}

/** Sends payouts as they are, and knows which ones it created. */
function createSender(deps: OperationDeps) {
  const created = new Set<string>();

  /** @throws Failure if the request created no payout, or if that is unknown */
  const createdBy = async (order: Order, answer: Answer<Created>, by: Operation) => {
    if (answer.kind === "unsent") throw unsent(answer);
    if (answer.kind === "data") {
      const { payoutId, amount } = answer.data;
      if (amount !== order.amount || created.has(payoutId))
        throw new Failure(
          "api.rejected",
          `The API returned the existing payout ${payoutId} instead of creating one.`,
        );
      created.add(payoutId);
      return answer.data;
    }
    if (answer.kind === "refused" && provesNothingDone("payout", answer, await deps.guarantees()))
      throw rejectedCreation(answer, { next: "Then retry.", about: order.merchantRef });
    throw new Failure("payout.outcome-unknown", `Cannot confirm ${by.id}: ${describe(answer)}.`, {
      hint: resolveHint(by.id, "payout", by),
      operation: by.id,
      evidence: evidenceOf(answer),
    });
  };

  /**
   * Records a payout and sends it once. In the ledger a reference belongs to one payout (I2), so another
   * request with it is recorded without one; its body is in `asked`.
   *
   * @throws Failure if it was not sent, or not recorded; not if the API did not accept it
   */
  return async (
    order: Order,
    { ownsReference = false, by = deps.client }: { ownsReference?: boolean; by?: Client } = {},
  ): Promise<Sent> => {
    checkStop(deps);
    checkClock(deps);
    const reference = ownsReference ? order.merchantRef : null;
    const amountPaisa = paisaOf(order.amount) ?? null;
    const intent = { kind: "payout", reference, amountPaisa, target: null, asked: order } as const;
    const request = { intent, onDuplicate: "send", sealer: await deps.sealer() } as const;
    const claim = await (await deps.ledger()).claim(request);
    const denied = deniedBy(claim, {
      ...{ amountPaisa: amountPaisa ?? 0n, reference: order.merchantRef },
      ...{ recipientNumber: order.recipientNumber, paymentMethodId: order.paymentMethodId },
    });
    if (denied) throw denied;
    if (claim.kind !== "new") throw new Error(`a new payout cannot be ${claim.kind}`);
    const { operation } = claim;
    let answer: Answer<Created> | undefined;
    let failure: Failure | undefined;
    await recorded(operation, deps, async () => {
      answer = await attempted(() => by.createPayout(order));
      const { payoutId: remoteId, status } = await createdBy(order, answer, operation);
      return { result: undefined, remoteId, status };
    }).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.reason === "ledger.not-recorded") throw error;
      failure = error;
    });
    if (answer === undefined || answer.kind === "unsent") throw failure;
    return { answer, operation, failure };
  };
}

/** Ends the operation of a request that had to be rejected: it created the payout that is given, or none. */
async function recordCreator(
  { id }: Operation,
  created: Created | undefined,
  deps: OperationDeps,
): Promise<void> {
  const ledger = await deps.ledger();
  const seen = await ledger.find(id);
  if (!seen) throw new Error("the ledger lost an operation");
  const message = "Another request created the payout of its reference.";
  const outcome: Outcome = created
    ? { state: "CONFIRMED", remoteId: created.payoutId, status: created.status }
    : { state: "REFUSED", code: "refused", message };
  if (created || isUnresolved(seen)) await ledger.learn({ seen, outcome });
}
