import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { amount, identifier, status, told } from "./fields.ts";

export const payments = {
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
    summary: "Retrieve a payment: the only word on its status",
    data: z.looseObject({
      transactionId: identifier,
      amount,
      description: told,
      status,
      paymentMethod: told,
      createdAt: told,
      updatedAt: told,
    }),
  }),
};
