import { err, ok, quoted, type Result } from "./result.ts";

/**
 * Reads a payout's reference (`merchantRef`, docs/api.md §4). A colon is never allowed: the signed
 * message is `amount:reference:timestamp`, and a colon would let two payouts share one signature.
 */
export function readReference(text: string): Result<string> {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(text)) return ok(text);
  if (text.includes(":"))
    return err(
      `The reference ${quoted(text)} contains a colon, which separates the parts of the signed message. Example: INV-2026-042.`,
    );
  if (/\p{Cf}/u.test(text))
    return err("The reference contains an invisible character. Type it again.");
  if (text.startsWith("-"))
    return err(
      `The reference ${quoted(text)} begins with a hyphen, as a flag does. Begin it with a letter, a digit or an underscore.`,
    );
  return err(
    `${quoted(text)} is not a valid reference. Use 1 to 64 letters, digits, hyphens or underscores. Example: INV-2026-042.`,
  );
}

/** Begins every reference that lenden creates; a ULID follows. */
export const generatedPrefix = "LD-";

/** The characters of the ULID behind it, and their number. */
export const generatedId = { alphabet: "0123456789ABCDEFGHJKMNPQRSTVWXYZ", length: 26 };

/** True for a reference that lenden created itself: typing or accepting one is no decision to pay twice. */
export function isGeneratedReference(reference: string): boolean {
  return /^LD-[0-9A-HJKMNP-TV-Z]{26}$/.test(reference);
}
