import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sign } from "../../src/api/signature.ts";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";

export const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";
export const liveKey = "public-ABC-ABCDEFGHIJKL-XYZ";
export const secret = "a-payout-secret-of-27-chars";
export const url = "https://sandbox.example/cp/api/v1";

/** Works offline, and only with this payout secret. */
export function verifyLine(payoutSecret = secret): string[] {
  return [
    ...["payout", "verify", "--amount", "5", "--ref", "A", "--timestamp", "1763614800"],
    ...["--signature", sign("5:A:1763614800", payoutSecret)],
  ];
}

/** The profile commands with their own config directory. */
export function place(folder = scratchFolder()) {
  const env = { LENDEN_CONFIG_DIR: folder };
  const file = join(folder, "profiles.json");
  const profile = (line: string[], stdin = "", more: Record<string, string | undefined> = {}) =>
    lenden(["profile", ...line], { env: { ...env, ...more }, stdin });
  const add = (name: string, more: string[] = []) =>
    profile(["add", name, "--key-stdin", "--base-url", url, ...more], `${key}\n`);
  const stored = (): { current?: string; profiles: Record<string, Record<string, unknown>> } =>
    JSON.parse(readFileSync(file, "utf8"));
  return { folder, file, env, profile, add, stored };
}
