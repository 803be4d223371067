import type { Endpoint } from "./endpoint.ts";
import { methods } from "./methods.ts";
import { payments } from "./payments.ts";
import { payouts } from "./payouts.ts";
import { refunds } from "./refunds.ts";
import { sandbox } from "./sandbox.ts";
import type { endpointNames } from "./words.ts";

/** The service, declared once: the eleven endpoints of service.md §4. */
export const contract = {
  ...methods,
  ...payments,
  ...payouts,
  ...refunds,
  ...sandbox,
} satisfies Record<(typeof endpointNames)[number], Endpoint>;
export type ServiceContract = typeof contract;

/** The version is part of the base path, in every environment (service.md §9). */
export const basePath = "/cp/api/v1";
