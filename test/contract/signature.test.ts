import { describe, expect, test } from "vitest";
import { explain, message, type Signed, sign, verify } from "../../src/api/signature.ts";
import { readAmount } from "../../src/domain/amount.ts";
import { readReference } from "../../src/domain/reference.ts";
import vectors from "../fixtures/signatures.json" with { type: "json" };

type Vector = (typeof vectors)[number];

test("makes amount, message and signature of the thousand vectors character by character", () => {
  expect(vectors).toHaveLength(1000);
  for (const vector of vectors) {
    const { message: text, signature } = signedOf(vector);
    expect({ text, signature }).toEqual({ text: vector.message, signature: vector.signature });
    expect(text.split(":")).toEqual([vector.amount, vector.ref, String(vector.timestamp)]);
  }
});

test("each vector verifies; with one bit of it changed it does not", () => {
  vectors.forEach(({ message: text, secret, signature }, index) => {
    expect(verify(text, secret, signature)).toBe(true);
    const bytes = Buffer.from(signature, "hex");
    const at = index % bytes.length;
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (index % 8));
    expect(verify(text, secret, bytes.toString("hex"))).toBe(false);
    expect(verify(flipped(text, index), secret, signature)).toBe(false);
    expect(verify(text, flipped(secret, index), signature)).toBe(false);
  });
});

test("only the lowercase hexadecimal digest verifies", () => {
  const text = "0.01:n:1643089964";
  const secret = "vgjRgtvirxsUsjB7bZddDNggRSWOhJNlAjflp_DhFhV";
  const signature = sign(text, secret);
  expect(verify(text, secret, signature)).toBe(true);
  for (const given of [
    "",
    signature.toUpperCase(),
    ` ${signature}`,
    `${signature}\n`,
    signature.slice(1),
    `${signature}00`,
    Buffer.from(signature, "hex").toString("base64"),
    "é".repeat(32),
  ]) {
    expect([given, verify(text, secret, given)]).toEqual([given, false]);
  }
});

describe("the part that differs is named", () => {
  const secret = "a-payout-secret-of-27-chars";
  const signed: Signed = { amountPaisa: 125_050n, reference: "Inv-7", timestamp: 1_763_614_800 };
  const right = "1250.5:Inv-7:1763614800";

  test.each([
    ["1250.50:Inv-7:1763614800", "amount text"],
    ["1250:Inv-7:1763614800", "amount text"],
    ["125050:Inv-7:1763614800", "amount text"],
    ["1,250.5:Inv-7:1763614800", "amount text"],
    ["1250.5:inv-7:1763614800", "reference"],
    ["1250.5:INV-7:1763614800", "reference"],
    ["1250.5:Inv-7 :1763614800", "reference"],
    ["1250.5::1763614800", "reference"],
    ["1250.5:Inv-7:1763614800000", "timestamp"],
    ["1250.5:Inv-7:2025-11-20T05:00:00.000Z", "timestamp"],
    ["1250.5:Inv-7:", "timestamp"],
    ["1250.5:Inv-7:1763614801", "timestamp"],
    ["1250.5:Inv-7:1763614500", "timestamp"],
    ["1250.5:1763614800:Inv-7", "order"],
    ["Inv-7:1250.5:1763614800", "order"],
    ["1763614800:Inv-7:1250.5", "order"],
    ["1250.5Inv-71763614800", "order"],
    ["1250.5|Inv-7|1763614800", "order"],
  ])("signed as %j: %s", (text, part) => {
    expect(explain(signed, secret, sign(text, secret)).part).toBe(part);
    expect(explain(signed, secret, sign(text, secret).toUpperCase()).part).toBe(part);
  });

  test.each([
    [sign(right, secret).toUpperCase(), "hex case"],
    [` ${sign(right, secret)} `, "hex case"],
    [Buffer.from(sign(right, secret), "hex").toString("base64"), "encoding"],
    [Buffer.from(sign(right, secret), "hex").toString("base64url"), "encoding"],
    [sign(right, `${secret}\n`), "secret"],
    [sign(right, ` ${secret}`), "secret"],
    [sign(right, "another secret"), "unknown"],
    [sign("9:X:1", secret), "unknown"],
    ["not a signature at all", "encoding"],
  ])("given %j: %s", (given, part) => {
    expect(explain(signed, secret, given).part).toBe(part);
  });

  test("a whole amount that was signed with a decimal point is the amount's text", () => {
    const whole = { ...signed, amountPaisa: 50_000n };
    for (const text of ["500.0", "500.00", "50000"]) {
      const given = sign(`${text}:Inv-7:1763614800`, secret);
      expect(explain(whole, secret, given)).toMatchObject({ part: "amount text" });
      expect(explain(whole, secret, given).explanation).toContain(`"${text}"`);
    }
  });

  test("for every vector, and no explanation holds the secret", () => {
    for (const vector of vectors.slice(0, 60).filter(({ secret }) => secret.length > 5)) {
      const own = signedOf(vector).signed;
      const late = sign(message({ ...own, timestamp: own.timestamp - 60 }), vector.secret);
      const found = explain(own, vector.secret, late);
      expect(found.part).toBe("timestamp");
      expect(JSON.stringify(found)).not.toContain(vector.secret);
    }
  });
});

function signedOf(vector: Vector) {
  const amount = readAmount(vector.typed);
  if (!amount.ok) throw new Error(`refused: ${JSON.stringify(vector)}`);
  // The API signs a reference that begins with a hyphen; lenden sends none.
  expect(readReference(vector.ref).ok).toBe(!vector.ref.startsWith("-"));
  expect(String(amount.value)).toBe(vector.paisa);
  const signed = {
    amountPaisa: amount.value,
    reference: vector.ref,
    timestamp: vector.timestamp,
  };
  return { signed, message: message(signed), signature: sign(message(signed), vector.secret) };
}

function flipped(text: string, index: number): string {
  const bytes = Buffer.from(text);
  const at = index % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString("latin1");
}
