/** `isFree` of state.ts, of an operation `o`. */
export const isFreeInSql = "(o.state = 'NOT_SENT' OR (o.state = 'REFUSED' AND o.code IS 'access'))";

/** `isUsedUp` of state.ts, of an operation `o`. */
export const isUsedUpInSql = `((o.state = 'REFUSED' AND o.code IS NOT 'access')
  OR (o.state = 'CONFIRMED' AND o.status IS 'Cancelled'))`;
