import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";

/** A payment method enabled on the account (service.md §2, which calls it a "Payment the service"). */
const method = z.looseObject({ id: z.string(), providerName: z.string(), codeName: z.string() });
export type PaymentMethod = z.infer<typeof method>;
/** What `GET /payment/methods` answers with, also as it is kept between runs. */
export const methodList = z.array(method);

export const methods = {
  listMethods: endpoint("GET /payment/methods", {
    access: "key",
    repeat: "safe",
    summary: "List the payment methods enabled on the account",
    data: methodList,
  }),
};
