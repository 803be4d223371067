import { createHash } from "node:crypto";

const longest = 64;

/**
 * The reference that takes the place of a used one: the same each time, so that nobody pays twice who
 * asks twice. `INV-7` → `INV-7-lenden2` → `INV-7-lenden3`. Merchants number as they like (`-2`, `-r2`);
 * this way is lenden's own, so that what goes by it went on from the first, whatever was mended in it.
 */
export function newReference(used: string): string {
  const [, stem = used, number = "1"] = /^(.*)-lenden([2-9]|[1-9]\d{1,3})$/.exec(used) ?? [];
  const next = `-lenden${Number(number) + 1}`;
  return stem.length + next.length <= longest ? stem + next : `LD-${shortened(stem)}${next}`;
}

function shortened(stem: string): string {
  return createHash("sha256").update(stem).digest("base64url").slice(0, 32);
}
