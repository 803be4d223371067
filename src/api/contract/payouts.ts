import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { amount, identifier, status, told } from "./fields.ts";

export const payouts = {
  createPayout: endpoint("POST /payout/create-by-server", {
    access: "signature",
    repeat: "same reference",
    summary: "Create a signed payout; a reference already used answers with the existing payout",
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
      createdAt: told,
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
      recipientName: told,
      description: told,
      status,
      createdAt: told,
      updatedAt: told,
    }),
  }),
};
