const sealed = (title) => ["test/commands/sealed.test.ts", "-t", title];

/** Bugs of the seals of orders: something is sent from the ledger that was ordered without the payout secret. */
export const sealBugs = [
  {
    name: "seal: a missing seal counts as valid",
    seam: "validSeal",
    decorate: (isValid) => (found, sealer) => found.seal === null || isValid(found, sealer),
    tests: sealed("a planted payout"),
  },
  {
    name: "seal: the seal of any order counts as valid",
    seam: "validSeal",
    decorate: () => (found) => found.seal !== null,
    tests: sealed("the seal of a payout with another"),
  },
  {
    name: "seal: what another login recorded without one is sent again",
    seam: "claim",
    decorate: (decideClaim) => (request, facts) => {
      const same = facts.same && { ...facts.same, orderedAt: facts.same.orderedAt ?? 1 };
      return decideClaim(request, { ...facts, same });
    },
    tests: [
      "test/ledger/other-logins.test.ts",
      "-t",
      "is sent again with the payout secret that sealed it alone",
    ],
  },
  {
    name: "seal: that of a row is valid after its batch was cancelled",
    seam: "validSeal",
    decorate: (isValid) => (found, sealer) => isValid({ ...found, wasPlanned: true }, sealer),
    tests: ["test/ledger/other-logins.test.ts", "-t", "its batch was cancelled"],
  },
  {
    name: "seal: the sealed request of another payout counts as its own",
    seam: "validSeal",
    decorate: (isValid) => (found, sealer) => {
      const { merchantRef, amount } = found.lastAsked;
      const amountPaisa = BigInt(Math.round(Number(amount) * 100));
      return isValid({ ...found, reference: merchantRef, amountPaisa }, sealer);
    },
    tests: [
      "test/ledger/other-logins.test.ts",
      "-t",
      "a payout with the sealed request of another one",
    ],
  },
  withoutPart("recipient", sealed("the seal of a payout with another")),
  withoutPart("methodId", sealed("the seal of a payout with another")),
  withoutPart("name", sealed("the seal of a payout with another")),
  withoutPart("batch", sealed("the seal of a payout with another")),
  {
    name: "seal: the account is not covered",
    seam: "sealer",
    decorate: (create) => (secret, account) => create(secret, { ...account, name: "" }),
    tests: ["test/ledger/seal.test.ts", "-t", "agrees with the vectors"],
  },
  {
    name: "seal: what has no valid seal is sent if it is ordered again",
    seam: "order",
    decorate: () => (found) => ({ asked: found.lastAsked }),
    tests: sealed("after a rotation of the payout secret"),
  },
  {
    name: "seal: what was ordered again is resumed as it was ordered first",
    seam: "lastAsked",
    decorate: (lastAsked) => (operation, history) =>
      lastAsked(
        operation,
        history.filter(({ event }) => event !== "resumed"),
      ),
    tests: sealed("after a rotation of the payout secret"),
  },
];

function withoutPart(part, tests) {
  return {
    name: `seal: the ${part} is not covered`,
    seam: "sealer",
    decorate:
      (create) =>
      (...given) => {
        const sealer = create(...given);
        return { ...sealer, sealOf: (order) => sealer.sealOf({ ...order, [part]: null }) };
      },
    tests,
  };
}
