import { createHmac, randomBytes } from "node:crypto";
import { sameText } from "./access.ts";

/** What only the page itself can know: another site may post a form, but it cannot read ours. */
export interface FormToken {
  of(id: string): string;
  fits(id: string, given: string): boolean;
}

/** The key lives as long as the sandbox: after a restart a page has to be opened again. */
export function createFormToken(): FormToken {
  const key = randomBytes(32);
  const of = (id: string): string => createHmac("sha256", key).update(id).digest("base64url");
  return { of, fits: (id, given) => sameText(of(id), given) };
}
