import type { endpointNames } from "../../domain/statuses.ts";
import type { Endpoint } from "./endpoint.ts";
import { methods } from "./methods.ts";
import { payments } from "./payments.ts";
import { payouts } from "./payouts.ts";
import { refunds } from "./refunds.ts";
import { sandbox } from "./sandbox.ts";

export { basePath } from "../../domain/url.ts";

/**
 * The service, declared once: the eleven endpoints of service.md §4. That is the service's own
 * document, "Payment Collection, Payout and Refund Service: Interface Specification".
 */
export const contract = {
  ...methods,
  ...payments,
  ...payouts,
  ...refunds,
  ...sandbox,
} satisfies Record<(typeof endpointNames)[number], Endpoint>;
export type ServiceContract = typeof contract;
