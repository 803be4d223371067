import { describe, expect, test } from "vitest";
import { createSealer, orderIn } from "../../src/ledger/seal.ts";
import vectors from "../fixtures/seals.json" with { type: "json" };

describe("a seal", () => {
  test("agrees with the vectors of another program", () => {
    expect(vectors.orders).toHaveLength(56);
    for (const { secret, environment, account: name, paisa, seal, ...order } of vectors.orders) {
      const sealer = createSealer(secret, { environment, name });
      expect(sealer.sealOf({ ...order, amountPaisa: BigInt(paisa) })).toBe(seal);
    }
    expect(vectors.plans).toHaveLength(14);
    for (const { secret, environment, account: name, paisa, seal, ...plan } of vectors.plans) {
      const sealer = createSealer(secret, { environment, name });
      expect(sealer.sealOfPlan({ ...plan, totalPaisa: BigInt(paisa) })).toBe(seal);
    }
  });

  test("differs for other values, other secrets and other accounts, but not for other forms of a character", () => {
    const differing = vectors.orders.filter(({ name }) => name !== "Andre\u0301");
    const seals = differing.map(({ seal }) => seal);
    expect(new Set(seals).size).toBe(seals.length);
    const both = vectors.orders.filter(({ reference }) => reference === "PAY-2");
    expect(new Set(both.map(({ seal }) => seal)).size).toBe(both.length / 2);
  });
});

test("a seal of a reference is none of one that only looks like it", () => {
  const sealer = createSealer("s3cret-of-all-payouts", { environment: "production", name: "a" });
  const order = { batch: null, amountPaisa: 1n, name: null, description: null };
  const seals = ["recipient", "methodId", "reference"].flatMap((field) =>
    ["K", "\u212A"].map((value) => {
      const texts = { recipient: "", methodId: "", reference: "", [field]: value };
      return sealer.sealOf({ ...order, ...texts });
    }),
  );
  expect(new Set(seals).size).toBe(6);
});

describe("the order in the body of a request", () => {
  const asked = {
    amount: 1250.5,
    merchantRef: "INV-7",
    recipientNumber: "01712345678",
    paymentMethodId: "m-1",
    description: "",
  };

  test("has the amount in paisa, and null for what is absent", () => {
    expect(orderIn(asked, "B7K2M9")).toEqual({
      batch: "B7K2M9",
      reference: "INV-7",
      amountPaisa: 125050n,
      recipient: "01712345678",
      methodId: "m-1",
      name: null,
      description: "",
    });
  });

  test.each(["amount", "merchantRef", "recipientNumber", "paymentMethodId"])(
    "is undefined without %s",
    (field) => {
      expect(orderIn({ ...asked, [field]: undefined }, null)).toBeUndefined();
    },
  );
});
