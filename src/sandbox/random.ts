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
  const bytes = seed === undefined ? unforeseen() : foreseen(`${seed}:${purpose}`);
  return {
    letters: (count) => [...bytes().subarray(0, count)].map(letter).join(""),
    share: () => bytes().readUInt32BE() / 2 ** 32,
  };
}

type Draw = () => Buffer;

/** Asking the system for thirty-two bytes takes about as long as for a page of them. */
function unforeseen(): Draw {
  let page = Buffer.alloc(0);
  return () => {
    if (page.length === 0) page = randomBytes(4096);
    const bytes = page.subarray(0, 32);
    page = page.subarray(32);
    return bytes;
  };
}

function foreseen(stream: string): Draw {
  let counter = 0;
  return () => createHash("sha256").update(`${stream}:${counter++}`).digest();
}

/** 256 is a multiple of 32: every letter is equally likely. */
function letter(byte: number): string {
  return "0123456789ABCDEFGHJKMNPQRSTVWXYZ".charAt(byte % 32);
}
