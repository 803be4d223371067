import { createHash } from "node:crypto";
import { accepted, type Reading, rejected } from "./reading.ts";

/**
 * Reads a payout's reference (`merchantRef`, service.md §4). A colon is never allowed: the signed
 * message is `amount:reference:timestamp`, and a colon would let two payouts share one signature.
 */
export function readReference(text: string): Reading<string> {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return accepted(text);
  if (text.includes(":"))
    return rejected(
      "A reference cannot hold a colon: it separates the parts of the signed message.",
    );
  return rejected(
    "A reference is 1 to 64 letters, digits, hyphens or underscores, for example INV-2026-042.",
  );
}

/** Begins every reference that lenden creates; a ULID follows. */
export const generatedPrefix = "LD-";

/** True for a reference that lenden created itself: typing or accepting one is no decision to pay twice. */
export function isGeneratedReference(reference: string): boolean {
  return /^LD-[0-9A-HJKMNP-TV-Z]{26}$/.test(reference);
}

const longestReference = 64;

/**
 * The reference that replaces a used one: always the same, so that a repeated command does not pay twice.
 * `INV-7` → `INV-7-lenden2` → `INV-7-lenden3`. Merchants use suffixes of their own (`-2`, `-r2`); this one
 * is lenden's, so that a payout with it is known to replace the first one, whatever was corrected.
 */
export function newReference(used: string): string {
  const [, stem = used, number = "1"] = /^(.*)-lenden([2-9]|[1-9]\d{1,3})$/.exec(used) ?? [];
  const next = `-lenden${Number(number) + 1}`;
  if (stem.length + next.length <= longestReference) return stem + next;
  const short = createHash("sha256").update(stem).digest("base64url").slice(0, 32);
  return `LD-${short}${next}`;
}
