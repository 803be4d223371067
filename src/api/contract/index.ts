import * as z from "zod/mini";
import { endpointNames } from "../../domain/statuses.ts";
import { type Data, type Endpoint, endpoint } from "./endpoint.ts";

export { basePath } from "../../domain/url.ts";

/** An undocumented status is accepted, but it never counts as final. */
const status = z.string();

/** A JSON number; `domain/amount.ts` converts it to paisa and back. */
const amount = z.number();

/** An ID must fit into a path: otherwise its record could not be retrieved. */
const identifier = z.string().check(z.regex(/^(?!\.{1,2}$)[^\s/\\\p{C}]{1,256}$/u, "not an id"));

/** A documented text that decides nothing: without it, the response is still valid. */
const optionalText = z.optional(z.nullable(z.string()));

/** A payment method enabled on the account (docs/api.md §2). */
const method = z.looseObject({ id: z.string(), providerName: z.string(), codeName: z.string() });
export type PaymentMethod = z.infer<typeof method>;
/** The data of `GET /payment/methods`, also as it is cached. */
export const methodList = z.array(method);

const methods = {
  listMethods: endpoint("GET /payment/methods", {
    access: "key",
    repeat: "safe",
    summary: "List the payment methods enabled on the account",
    data: methodList,
  }),
};

const payments = {
  createPayment: endpoint("POST /payment/create", {
    access: "key",
    repeat: "never",
    summary: "Create a payment and get the hosted page the customer is sent to",
    body: z.strictObject({
      amount,
      description: z.string(),
      paymentMethodId: z.string(),
      redirect_url: z.string(),
      callback_url: z.string(),
      suggestedPayerNumber: z.optional(z.string()),
      gatewayType: z.optional(z.string()),
      note: z.optional(z.string()),
    }),
    data: z.looseObject({ transactionId: identifier, payment_url: z.string(), amount, status }),
  }),

  retrievePayment: endpoint("GET /payment/retrieve/:transactionId", {
    about: "transactionId",
    access: "key",
    repeat: "safe",
    summary: "Retrieve a payment, the only proof of its status",
    data: z.looseObject({
      transactionId: identifier,
      amount,
      description: optionalText,
      status,
      paymentMethod: optionalText,
      createdAt: optionalText,
      updatedAt: optionalText,
    }),
  }),
};

const payouts = {
  createPayout: endpoint("POST /payout/create-by-server", {
    access: "signature",
    repeat: "same reference",
    summary: "Create a signed payout; a used reference returns the existing payout",
    body: z.strictObject({
      amount,
      merchantRef: z.string(),
      timestamp: z.int(),
      recipientNumber: z.string(),
      recipientName: z.optional(z.string()),
      description: z.optional(z.string()),
      paymentMethodId: z.string(),
    }),
    data: z.looseObject({
      payoutId: identifier,
      merchantRef: z.string(),
      amount,
      status,
      createdAt: optionalText,
    }),
  }),

  retrievePayout: endpoint("GET /payout/retrieve/:payoutId", {
    about: "payoutId",
    access: "key",
    repeat: "safe",
    summary: "Retrieve a payout",
    data: z.looseObject({
      payoutId: identifier,
      merchantRef: z.string(),
      amount,
      recipientNumber: z.string(),
      recipientName: optionalText,
      description: optionalText,
      status,
      createdAt: optionalText,
      updatedAt: optionalText,
    }),
  }),
};

/** Where a refund goes: a personal or a business MFS account (docs/api.md §2). */
const accountTypes = ["PERSONAL_ACCOUNT", "BUSINESS_ACCOUNT"] as const;
export type AccountType = (typeof accountTypes)[number];

const refunds = {
  createRefund: endpoint("POST /refund/create-a-request", {
    access: "key",
    repeat: "never",
    summary: "Refund a completed payment in full or in part",
    body: z.strictObject({
      transactionId: z.string(),
      amount,
      accountType: z.enum(accountTypes),
      accountNumber: z.string(),
      note: z.optional(z.string()),
    }),
    data: z.looseObject({
      refundRequestId: identifier,
      transactionId: identifier,
      amount,
      status,
      createdAt: optionalText,
    }),
  }),

  retrieveRefund: endpoint("GET /refund/retrieve/:id", {
    about: "refundRequestId",
    access: "key",
    repeat: "safe",
    summary: "Retrieve a refund request",
    data: z.looseObject({
      refundRequestId: identifier,
      transactionId: identifier,
      amount,
      accountType: optionalText,
      accountNumber: optionalText,
      status,
      note: optionalText,
      createdAt: optionalText,
      updatedAt: optionalText,
    }),
  }),

  cancelRefund: endpoint("PATCH /refund/cancel-by-platform/:refundRequestId", {
    about: "refundRequestId",
    access: "key",
    repeat: "settles",
    summary: "Cancel a refund request while it is Processing",
    body: z.strictObject({ note: z.optional(z.string()) }),
    data: z.looseObject({
      refundRequestId: identifier,
      status,
      note: optionalText,
      updatedAt: optionalText,
    }),
  }),
};

/** The answers of the sandbox helpers are not shown (docs/api.md §4): whatever comes is taken. */
const sandbox = {
  triggerPayment: endpoint("POST /sandbox/trigger-payment", {
    access: "sandbox key",
    repeat: "settles",
    summary: "Complete a simulated payment",
    body: z.strictObject({ transactionId: z.string() }),
  }),

  triggerPayout: endpoint("POST /sandbox/trigger-payout", {
    access: "sandbox key",
    repeat: "settles",
    summary: "Complete a simulated payout",
    body: z.strictObject({ payoutId: z.string() }),
  }),

  sandboxInfo: endpoint("GET /sandbox/info", {
    access: "sandbox key",
    repeat: "safe",
    summary: "Show the sandbox account",
  }),
};

/** The eleven endpoints of docs/api.md §4. The client and the local sandbox are both typed from them. */
export const contract = {
  ...methods,
  ...payments,
  ...payouts,
  ...refunds,
  ...sandbox,
} satisfies Record<(typeof endpointNames)[number], Endpoint>;
export type ServiceContract = typeof contract;

/** The endpoint that a method and a path name, in any case, and the ID in the path. */
export function endpointAt(method: string, path: string) {
  const [plain = ""] = path.split("?");
  for (const name of endpointNames) {
    const endpoint: Endpoint = contract[name];
    const match = endpoint.method === method && patternOf(endpoint, "^").exec(plain);
    if (match) return { name, endpoint, id: match[1] ?? "" };
  }
  return undefined;
}

/** A pattern of the endpoint's path; `start` is empty if other segments may come before it. */
export function patternOf({ path }: Pick<Endpoint, "path">, start: "^" | ""): RegExp {
  return new RegExp(`${start}${path.replace(/:\w+/, "([^/]+)")}/?$`, "i");
}

type Retrieved = Data<ServiceContract["retrievePayment" | "retrievePayout" | "retrieveRefund"]>;
/** The fields of an object that its schema names. */
type Named<Fields> = {
  [Name in keyof Fields as string extends Name ? never : Name]: Fields[Name];
};
type NameIn<Each> = Each extends unknown ? keyof Named<Each> : never;
type ValueIn<Each, Name extends PropertyKey> = Each extends { [Own in Name]?: infer Value }
  ? Value
  : never;

/** A payment, a payout or a refund, as the API has it: what all of them have, and what one of them may have. */
export type ServiceRecord = Pick<Named<Retrieved>, keyof Named<Retrieved>> & {
  [Name in NameIn<Retrieved>]?: ValueIn<Retrieved, Name>;
} & {
  /** Of no schema: the specification does not name it, and another currency must not be overlooked. */
  currency?: unknown;
};
