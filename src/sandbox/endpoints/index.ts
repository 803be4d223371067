import type { ServiceContract } from "../../api/contract/index.ts";
import type { Handlers } from "../handlers.ts";
import { paymentMethods } from "../methods.ts";
import type { Store } from "../store.ts";
import { paymentHandlers } from "./payments.ts";
import { payoutHandlers } from "./payouts.ts";
import { refundHandlers } from "./refunds.ts";
import { sandboxHandlers } from "./sandbox.ts";

interface HandlerOptions {
  store: Store;
  /** Where the sandbox is reached, without the base path: `http://127.0.0.1:4700`. */
  origin: string;
  baseUrl: string;
}

/**
 * The service (service.md §4): what it answers, and what it refuses. Divided as the contract is, a
 * file for each kind of record.
 */
export function serviceHandlers(options: HandlerOptions): Handlers<ServiceContract> {
  return {
    listMethods: () => paymentMethods,
    ...paymentHandlers(options),
    ...payoutHandlers(options),
    ...refundHandlers(options),
    ...sandboxHandlers(options),
  };
}
