import { hash } from "node:crypto";

/** The reference that a new one replaces; undefined for any other reference, and for a shortened one. */
export function replacedReference(reference: string): string | undefined {
  const [, stem = "", number = ""] = /^(.*)-lenden([2-9]|[1-9]\d{1,3})$/.exec(reference) ?? [];
  if (stem === "") return undefined;
  return number === "2" ? stem : `${stem}-lenden${Number(number) - 1}`;
}

/** All references that a new one replaces, the newest first; none for any other reference. */
export function replacedReferences(reference: string): string[] {
  const replaced: string[] = [];
  for (let one = replacedReference(reference); one !== undefined; one = replacedReference(one))
    replaced.push(one);
  return replaced;
}

/** True if one of two references replaces the other, however often, also if it was shortened. */
export function isOfSameOrder(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && stemOf(one) === stemOf(other);
}

function stemOf(reference: string): string {
  return newReference(reference).replace(/-lenden\d+$/, "");
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
  const short = hash("sha256", stem, "base64url").slice(0, 32);
  return `LD-${short}${next}`;
}
