import type { Operation } from "../../src/ledger/operation.ts";

/** A payout of five taka that was completed. */
export const paid: Operation = {
  ...{ number: 1n, id: "OP1", kind: "payout", reference: "A", amountPaisa: 500n, target: null },
  ...{ asked: {}, methodName: null, batch: null, state: "CONFIRMED", remoteId: "PO1" },
  ...{ status: "Completed", code: null, message: null, attempts: 1 },
  ...{ createdAt: "2026-11-01T00:00:00.000Z", openedAt: "2026-11-01T00:00:00.000Z" },
  ...{ updatedAt: "2026-11-01T00:00:00.000Z", acceptedAt: null, completedAt: null },
  ...{ paymentUrl: null, holder: null, user: "ann", command: "api", profile: "", baseUrl: "" },
  ...{ environment: "sandbox", account: "shop", login: "ann", keyHash: "k", actor: "person" },
};
