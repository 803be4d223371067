import * as z from "zod/mini";

/** A status as it arrives: one that nobody documented is kept, and is never taken for an end. */
export const status = z.string();

/** An amount on the wire: a JSON number. `amount.ts` turns it into whole paisa and back. */
export const amount = z.number();

/** An id of the service: it must be fit for a path, or nobody could ask for the record again. */
export const identifier = z
  .string()
  .check(z.regex(/^(?!\.{1,2}$)[^\s/\\\p{C}]{1,256}$/u, "not an id"));

/** A documented text that decides nothing: its absence does not spoil an answer about money. */
export const told = z.optional(z.nullable(z.string()));
