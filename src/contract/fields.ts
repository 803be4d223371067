import * as z from "zod/mini";

/** A status as it arrives: one that nobody documented is kept, and is never taken for an end. */
export const status = z.string();

/** An amount on the wire: a JSON number. `amount.ts` turns it into whole paisa and back. */
export const amount = z.number();

/** A documented text that decides nothing: its absence does not spoil an answer about money. */
export const told = z.optional(z.nullable(z.string()));
