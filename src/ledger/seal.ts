import { createHmac, hkdfSync, scryptSync } from "node:crypto";
import { type Paisa, paisaOf } from "../domain/amount.ts";
import type { Operation } from "./operation.ts";

/*
 * Whoever holds the payout secret seals what is ordered: a ledger is written by several people, and nothing that it
 * contains is signed without a valid seal (I11). The vectors of test/fixtures/seals.json define the format.
 */

/** A payout as a seal covers it: everything that is sent, but for the timestamp. */
export interface SealedOrder {
  /** The ID of the batch that it is a row of; null for a single payout. */
  batch: string | null;
  reference: string;
  amountPaisa: Paisa;
  /** As it is sent. */
  recipient: string;
  methodId: string;
  name: string | null;
  description: string | null;
}

/** The plan of a batch as its seal covers it. */
interface SealedPlan {
  /** The ID of the batch. */
  batch: string;
  identity: string;
  rowCount: number;
  totalPaisa: Paisa;
  /** SHA-256 of the seals of its rows, in their order; hexadecimal. */
  seals: string;
  /** SHA-256 of the numbers of the rows whose duplicates were accepted; hexadecimal. */
  accepted: string;
}

/** Makes the seals of one account, with a key that follows from its payout secret. */
export interface Sealer {
  /** True for an operation of the account: no other order is sent with its key, whatever its seal is. */
  isOf(operation: Pick<Operation, "environment" | "account">): boolean;
  sealOf(order: SealedOrder): string;
  sealOfPlan(plan: SealedPlan): string;
}

/** Shorter secrets can be guessed by whoever reads seals in a ledger or in a backup, so each guess has to cost more. */
const shortSecret = 20;
const salt = "lenden seal";

/**
 * @param account its environment and its name in the ledger
 * @returns seals of 43 characters (HMAC-SHA256, base64url)
 */
export function createSealer(
  secret: string,
  { environment, name }: { environment: string; name: string },
): Sealer {
  const isShort = [...secret].length < shortSecret;
  const material = isShort ? scryptSync(secret, salt, 32, { N: 2 ** 14 }) : secret;
  const info = JSON.stringify([environment, name]);
  const key = Buffer.from(hkdfSync("sha256", material, salt, info, 32));
  const seal = (...parts: string[]) =>
    createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
  // The API tells references apart by their bytes, so only texts for people are normalized.
  const shown = (text: string | null) => (text ?? "").normalize("NFC");
  return {
    isOf: (one) => one.environment === environment && one.account === name,
    sealOf: ({ batch, reference, amountPaisa, recipient, methodId, name: payee, description }) =>
      seal(
        ...["lenden order 1", environment, name, batch === null ? "payout" : "row", batch ?? ""],
        ...[reference, String(amountPaisa), recipient, methodId, shown(payee), shown(description)],
      ),
    sealOfPlan: ({ batch, identity, rowCount, totalPaisa, seals, accepted }) =>
      seal(
        ...["lenden plan 1", environment, name, batch, identity],
        ...[String(rowCount), String(totalPaisa), seals, accepted],
      ),
  };
}

/**
 * The seal of the order that the body of a request is.
 *
 * @param batch the ID of the batch that it is a row of
 * @returns null if it is no payout that could be sent
 */
export function sealOf(
  asked: Record<string, unknown>,
  batch: string | null,
  sealer: Sealer,
): string | null {
  const order = orderIn(asked, batch);
  return order ? sealer.sealOf(order) : null;
}

/**
 * The order that the body of a request is.
 *
 * @param batch the ID of the batch that it is a row of
 * @returns undefined if it is no payout that could be sent
 */
export function orderIn(
  asked: Record<string, unknown>,
  batch: string | null,
): SealedOrder | undefined {
  const text = (name: string) => (typeof asked[name] === "string" ? asked[name] : null);
  const amountPaisa = typeof asked.amount === "number" ? paisaOf(asked.amount) : undefined;
  const [reference, recipient] = [text("merchantRef"), text("recipientNumber")];
  const methodId = text("paymentMethodId");
  if (amountPaisa === undefined || !reference || !recipient || !methodId) return undefined;
  const [name, description] = [text("recipientName"), text("description")];
  return { batch, reference, amountPaisa, recipient, methodId, name, description };
}
