import { createHmac } from "node:crypto";

/** Written from the service's specification alone: it shares no code with the client, so it cannot share a mistake. */
export interface PayoutRecord {
  payoutId: string;
  merchantRef: string;
  amount: number;
  recipientNumber: string;
  paymentMethodId: string;
  status: string;
  createdAtMs: number;
  /** The ID of the key that made it. */
  keyId: string;
  /** The reference was used before, by another machine of the same merchant. */
  isForeign: boolean;
}

export interface PaymentRecord {
  transactionId: string;
  amount: number;
  description: string;
  status: string;
  createdAtMs: number;
}

export interface RefundRecord {
  keyId: string;
  refundRequestId: string;
  transactionId: string;
  amount: number;
  accountType: string;
  accountNumber: string;
  status: string;
  createdAtMs: number;
}

export interface Asked {
  method: string;
  /** Without the base URL. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface Reply {
  status: number;
  body: unknown;
  /** The id of what this request made, and of nothing that was there before. */
  made?: string;
  /** The id of the refund that this request cancelled. */
  cancelled?: string;
}

interface ApiKey {
  id: string;
  apiKey: string;
  payoutSecret: string;
}

const windowSeconds = 300;

export class Service {
  readonly payouts: PayoutRecord[] = [];
  readonly payments: PaymentRecord[] = [];
  readonly refunds: RefundRecord[] = [];
  #made = 0;
  #keys: readonly ApiKey[];
  readonly #referencesPerKey: boolean;

  constructor(keys: readonly ApiKey[], { referencesPerKey }: { referencesPerKey: boolean }) {
    this.#keys = keys;
    this.#referencesPerKey = referencesPerKey;
  }

  revoke(apiKey: string): void {
    this.#keys = this.#keys.filter((key) => key.apiKey !== apiKey);
  }

  /** The payout that a reference leads to with this key. */
  payoutOf(reference: string, keyId: string): PayoutRecord | undefined {
    return this.payouts.find(
      (one) => one.merchantRef === reference && (!this.#referencesPerKey || one.keyId === keyId),
    );
  }

  /** The payout that the ledger knows by a reference: made with this key, or with another one of the account. */
  payoutOfAccount(reference: string, keyId: string): PayoutRecord | undefined {
    const ofOther = this.payouts.find((one) => one.merchantRef === reference);
    return this.payoutOf(reference, keyId) ?? ofOther;
  }

  handle({ method, path, headers, body }: Asked, nowMs: number): Reply {
    const key = this.#keys.find(({ apiKey }) => apiKey === headers["x-api-key"]);
    if (!key) return no(401, "unknown key");
    const fields = fieldsOf(body);
    const [, resource = "", action = "", id = ""] = path.split("/");
    switch (`${method} ${resource}/${action}`) {
      case "POST payout/create-by-server":
        return this.#createPayout(body ?? "", headers["x-payout-signature"] ?? "", { key, nowMs });
      case "POST payment/create":
        return this.#createPayment(fields, nowMs);
      case "POST refund/create-a-request":
        return this.#createRefund(fields, key.id, nowMs);
      case "PATCH refund/cancel-by-platform":
        return this.#cancelRefund(decodeURIComponent(id));
      case "GET payout/retrieve":
        return shown(this.payouts.find(({ payoutId }) => payoutId === id));
      case "GET payment/retrieve":
        return shown(this.payments.find(({ transactionId }) => transactionId === id));
      case "GET refund/retrieve":
        return shown(this.refunds.find(({ refundRequestId }) => refundRequestId === id));
      default:
        return no(404, "no such endpoint");
    }
  }

  /** A reference that another one used. */
  seedPayout(payout: Omit<PayoutRecord, "payoutId" | "isForeign" | "keyId">): void {
    const keyId = this.#keys[0]?.id ?? "";
    this.payouts.push({ ...payout, payoutId: this.#newId("PO"), keyId, isForeign: true });
  }

  seedPayment(transactionId: string, amount: number, createdAtMs: number): void {
    const status = "Completed";
    this.payments.push({ transactionId, amount, description: "sold", status, createdAtMs });
  }

  #createPayout(
    body: string,
    signature: string,
    { key, nowMs }: { key: ApiKey; nowMs: number },
  ): Reply {
    const fields = fieldsOf(body);
    const { merchantRef, recipientNumber, paymentMethodId, timestamp, amount } = fields;
    if (
      typeof merchantRef !== "string" ||
      typeof recipientNumber !== "string" ||
      typeof paymentMethodId !== "string" ||
      typeof amount !== "number" ||
      typeof timestamp !== "number" ||
      amount <= 0
    )
      return no(400, "fields");
    const text = `${amountAsWritten(body)}:${merchantRef}:${timestamp}`;
    const expected = createHmac("sha256", key.payoutSecret).update(text).digest("hex");
    if (signature !== expected) return no(401, "signature");
    if (Math.abs(nowMs / 1000 - timestamp) > windowSeconds) return no(400, "timestamp");
    const existing = this.payoutOf(merchantRef, key.id);
    if (existing) return yes(createdPayout(existing));
    const payout: PayoutRecord = {
      payoutId: this.#newId("PO"),
      merchantRef,
      amount,
      recipientNumber,
      paymentMethodId,
      status: "Processing",
      createdAtMs: nowMs,
      keyId: key.id,
      isForeign: false,
    };
    this.payouts.push(payout);
    return { ...yes(createdPayout(payout)), made: payout.payoutId };
  }

  #createPayment({ amount, description }: Fields, nowMs: number): Reply {
    if (typeof amount !== "number" || typeof description !== "string") return no(400, "fields");
    const transactionId = this.#newId("TX");
    const status = "Processing";
    this.payments.push({ transactionId, amount, description, status, createdAtMs: nowMs });
    const payment_url = `https://pay.test/${transactionId}`;
    return { ...yes({ transactionId, payment_url, amount, status }), made: transactionId };
  }

  /** It does not look at the sum of refunds: the specification does not say that it would. */
  #createRefund(fields: Fields, keyId: string, nowMs: number): Reply {
    const { transactionId, amount, accountType, accountNumber } = fields;
    if (
      typeof transactionId !== "string" ||
      typeof amount !== "number" ||
      typeof accountType !== "string" ||
      typeof accountNumber !== "string"
    )
      return no(400, "fields");
    const payment = this.payments.find((one) => one.transactionId === transactionId);
    if (payment?.status !== "Completed") return no(422, "not a completed payment");
    const refundRequestId = this.#newId("RF");
    const status = "Processing";
    const createdAtMs = nowMs;
    const refund = { refundRequestId, transactionId, amount, accountType, accountNumber, status };
    this.refunds.push({ ...refund, keyId, createdAtMs });
    return {
      ...yes({ refundRequestId, transactionId, amount, status, createdAt: iso(nowMs) }),
      made: refundRequestId,
    };
  }

  #cancelRefund(id: string): Reply {
    const refund = this.refunds.find((one) => one.refundRequestId === id);
    if (!refund) return no(404, "no such refund");
    if (refund.status !== "Processing") return no(400, `it is ${refund.status}`);
    refund.status = "Cancelled";
    return { ...yes({ refundRequestId: id, status: "Cancelled" }), cancelled: id };
  }

  #newId(prefix: string): string {
    this.#made += 1;
    return `${prefix}${this.#made}`;
  }
}

type Fields = Record<string, unknown>;

/** The characters of the number, for they are what was signed. */
function amountAsWritten(body: string): string {
  return /"amount":([^,}]+)/.exec(body)?.[1] ?? "";
}

function createdPayout({ payoutId, merchantRef, amount, status, createdAtMs }: PayoutRecord) {
  return { payoutId, merchantRef, amount, status, createdAt: iso(createdAtMs) };
}

function shown(record: PayoutRecord | PaymentRecord | RefundRecord | undefined): Reply {
  if (!record) return no(404, "no such record");
  const { createdAtMs, ...rest } = record;
  return yes({ ...rest, createdAt: iso(createdAtMs), updatedAt: iso(createdAtMs) });
}

function yes(data: unknown): Reply {
  return { status: 200, body: { success: true, data } };
}

function no(status: number, message: string): Reply {
  return { status, body: { success: false, message } };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function fieldsOf(body: string | undefined): Fields {
  const read: unknown = body === undefined ? {} : JSON.parse(body);
  return typeof read === "object" && read !== null ? { ...read } : {};
}
