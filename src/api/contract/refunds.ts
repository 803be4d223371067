import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { amount, identifier, status, told } from "./fields.ts";

/** Where a refund goes: a personal or a business MFS account (service.md §2). */
const accountTypes = ["PERSONAL_ACCOUNT", "BUSINESS_ACCOUNT"] as const;
export type AccountType = (typeof accountTypes)[number];

export const refunds = {
  createRefund: endpoint("POST /refund/create-a-request", {
    access: "key",
    repeat: "never",
    summary: "Ask for a refund of a completed payment, in whole or in part",
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
      createdAt: told,
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
      accountType: told,
      accountNumber: told,
      status,
      note: told,
      createdAt: told,
      updatedAt: told,
    }),
  }),

  cancelRefund: endpoint("PATCH /refund/cancel-by-platform/:refundRequestId", {
    about: "refundRequestId",
    access: "key",
    repeat: "settles",
    summary: "Cancel a refund request while it is Processing",
    body: z.strictObject({ note: z.optional(z.string()) }),
    data: z.looseObject({ refundRequestId: identifier, status, note: told, updatedAt: told }),
  }),
};
