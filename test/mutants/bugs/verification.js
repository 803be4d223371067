import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { override, withValues } from "../override.js";

const verified = (title) => ["test/commands/verify-api.test.ts", "-t", title];

const all = { references: true, rejections: true };
const relying = (deps) => withValues(deps, { guarantees: async () => all });

/** Bugs of what `lenden verify-api` tries, and of the guards that are stricter after it. */
export const verificationBugs = [
  {
    name: "P25c: an attempt of unknown outcome is repeated although references are not kept",
    seam: "attempts",
    decorate: (create) => (order, attempts, deps) => create(order, attempts, relying(deps)),
    tests: verified("is not sent again, by no command"),
  },
  {
    name: "P25c: a later run sends an unknown payout again although references are not kept",
    seam: "resendable",
    decorate: (assert) => (operation, deps) => assert(operation, relying(deps)),
    tests: verified("is not sent again, by no command"),
  },
  {
    name: "P25c: a batch sends its unknown rows again although references are not kept",
    seam: "batch",
    decorate: (send) => (sending, deps) => send(sending, relying(deps)),
    tests: verified("a batch sends its other rows"),
  },
  {
    name: "P17c: a rejected payout proves something although rejected requests create something",
    seam: "rejectionProof",
    decorate: relyingFor("payout"),
    tests: verified("a rejected payout is of unknown outcome"),
  },
  {
    name: "P17c: a rejected refund proves something although rejected requests create something",
    seam: "rejectionProof",
    decorate: relyingFor("refund"),
    tests: verified("a rejected payment and a rejected refund"),
  },
  {
    name: "verify-api: a run that cannot decide ends what an earlier one refuted",
    seam: "storedVerification",
    decorate: (store) => (folder, verification) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      return store(folder, verification);
    },
    tests: verified("stay refuted until the assumption holds"),
  },
  {
    name: "verify-api: a result that cannot be read counts as none",
    seam: "guarantees",
    decorate: (guaranteesOf) => (folder, owner) => {
      const found = guaranteesOf(folder, owner);
      return found.references || found.rejections ? found : all;
    },
    tests: verified("rely on nothing if the file cannot be read"),
  },
  {
    name: "verify-api: production ignores what a sandbox account refuted",
    seam: "guarantees",
    decorate: (guaranteesOf) => (folder, owner) =>
      owner.environment === "production" ? all : guaranteesOf(folder, owner),
    tests: verified("count for their account, and for every production account"),
  },
  {
    name: "verify-api: the newest payout of a recipient is a test, and hides a real one",
    seam: "database",
    decorate: (database) =>
      override(database, {
        prepare: (prepare) => (sql) => prepare(sql.replaceAll("o.command <> 'verify-api'", "true")),
      }),
    tests: verified("leaves no payout that counts as a duplicate"),
  },
];

/** Relies on the rejections of one kind of request. */
function relyingFor(kind) {
  return (provesNothingDone) => (of, answer, guarantees) =>
    provesNothingDone(of, answer, of === kind ? all : guarantees);
}
