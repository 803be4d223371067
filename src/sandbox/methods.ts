import type { PaymentMethod } from "../api/contract/index.ts";

/** The methods of the sandbox's account; they differ per account (service.md §2). */
export const paymentMethods = [
  { id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" },
  { id: "665f1c2ab8e5", providerName: "Nagad", codeName: "nagad" },
  { id: "665f1c2ab8e6", providerName: "Rocket", codeName: "rocket" },
] satisfies PaymentMethod[];

/** The display name that `retrieve` shows, null for a method that is no longer there. */
export function providerName(paymentMethodId: string): string | null {
  return paymentMethods.find(({ id }) => id === paymentMethodId)?.providerName ?? null;
}
