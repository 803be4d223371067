import { createHash, randomBytes } from "node:crypto";

/** The source of IDs, keys and the choice of faults. */
export type Random = ReturnType<typeof createRandom>;

/** With a seed, the same bytes in every run; each purpose has a stream of its own. */
export function createRandom(purpose: string, seed?: number) {
  let counter = 0;
  let page = Buffer.alloc(0);
  const bytes = (): Buffer => {
    if (seed !== undefined)
      return createHash("sha256").update(`${seed}:${purpose}:${counter++}`).digest();
    // A page takes the system about as long as 32 bytes.
    if (page.length === 0) page = randomBytes(4096);
    const next = page.subarray(0, 32);
    page = page.subarray(32);
    return next;
  };
  return {
    /** Upper-case letters and digits that are not mistaken for one another (Crockford's base 32). */
    letters: (count: number) => [...bytes().subarray(0, count)].map(letter).join(""),
    /** A number from 0 to below 1. */
    share: () => bytes().readUInt32BE() / 2 ** 32,
  };
}

/** 256 is a multiple of 32: every letter is equally likely. */
function letter(byte: number): string {
  return "0123456789ABCDEFGHJKMNPQRSTVWXYZ".charAt(byte % 32);
}
