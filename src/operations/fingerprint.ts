import { hash } from "node:crypto";
import type { World } from "./world.ts";

/** What makes two requests the same: the account and everything that decides who gets how much. */
export function fingerprintOf(
  { account }: Pick<World, "account">,
  parts: (string | bigint)[],
): string {
  const text = [account.baseUrl, account.environment, ...parts.map(String)].join("|");
  return hash("sha256", text);
}
