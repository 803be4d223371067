import { expect, test } from "vitest";
import { checkClaim } from "../../../src/operations/payout/claim.ts";
import { orderOf } from "../../../src/operations/payout/order.ts";
import { claimed, memoryLedger, payout } from "../../ledger/small-ledger.ts";

test.each([
  ["reference", { merchantRef: "B" }],
  ["amount", { amount: 6 }],
  ["recipient", { recipientNumber: "01799999999" }],
  ["method", { paymentMethodId: "m2" }],
])("a resumed payout is not sent with another %s than its order has", async (_, other) => {
  const { ledger } = await memoryLedger();
  const operation = await claimed(ledger, payout("A"));
  const { asked } = operation;
  const claim = (given: object) =>
    checkClaim(
      orderOf({ id: "A", asked }),
      {
        ...{ kind: "resumed", operation, earlier: undefined },
        asked: { ...asked, recipientName: "Rahima", ...given },
      },
      ledger,
    );
  await expect(claim(other)).rejects.toThrow("a request of another payout");
  expect(await claim({})).toMatchObject({ kind: "resumed" });
});
