import { createHash, randomBytes } from "node:crypto";

/** Where ids, keys and the luck of faults come from. */
export interface Random {
  /** Upper-case letters and digits that nobody mistakes for one another (Crockford's base 32). */
  letters(count: number): string;
  /** A number from 0 to below 1. */
  share(): number;
}

/** With a seed, the same bytes in every run; each purpose has a stream of its own. */
export function createRandom(purpose: string, seed?: number): Random {
  let counter = 0;
  const bytes = (): Buffer => {
    if (seed === undefined) return randomBytes(32);
    return createHash("sha256").update(`${seed}:${purpose}:${counter++}`).digest();
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
