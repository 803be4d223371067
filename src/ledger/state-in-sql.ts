/** `isFree` of state.ts, of an operation `o`. */
export const isFreeInSql = isFreeOf("o");

/** The same of one with another name. */
export function isFreeOf(one: string): string {
  return `(${one}.state = 'NOT_SENT' OR (${one}.state = 'REFUSED' AND ${one}.code IS 'access'))`;
}

/** `isUsedUp` of state.ts, of an operation `o`. */
export const isUsedUpInSql = `((o.state = 'REFUSED' AND o.code IS NOT 'access')
  OR (o.state = 'CONFIRMED' AND o.status IS 'Cancelled'))`;
