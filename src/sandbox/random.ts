import { createHash, randomBytes } from "node:crypto";

/** The source of IDs, keys and the choice of faults. */
export interface Random {
  /** Upper-case letters and digits that are not mistaken for one another (Crockford's base 32). */
  letters(count: number): string;
  /** A number from 0 to below 1. */
  share(): number;
}

/** With a seed, the same bytes in every run; each purpose has a stream of its own. */
export function createRandom(purpose: string, seed?: number): Random {
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
    letters: (count) => [...bytes().subarray(0, count)].map(letter).join(""),
    share: () => bytes().readUInt32BE() / 2 ** 32,
  };
}

/** 256 is a multiple of 32: every letter is equally likely. */
function letter(byte: number): string {
  return "0123456789ABCDEFGHJKMNPQRSTVWXYZ".charAt(byte % 32);
}
