import { isAbsolute } from "node:path";

/**
 * The folder that a variable such as XDG_DATA_HOME names. A relative one counts for nothing, as the
 * XDG specification says: there would be another ledger wherever somebody works.
 */
export function absolute(named: string | undefined): string | undefined {
  return named !== undefined && isAbsolute(named) ? named : undefined;
}
