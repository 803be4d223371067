import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";

/** The answers of the sandbox helpers are not shown (service.md §4): whatever comes is taken. */
export const sandbox = {
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
