import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lenden, scratchFolder } from "../run.ts";

export const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";
export const liveKey = "public-ABC-ABCDEFGHIJKL-XYZ";
export const secret = "a-payout-secret-of-27-chars";
export const url = "https://sandbox.example/cp/api/v1";

/** A config folder of its own, and the profile commands in it. */
export function place(folder = scratchFolder()) {
  const env = { LENDEN_CONFIG_DIR: folder };
  const file = join(folder, "profiles.json");
  const profile = (line: string[], stdin?: string) =>
    lenden(["profile", ...line], { env, ...(stdin === undefined ? {} : { stdin }) });
  const add = (name: string, more: string[] = []) =>
    profile(["add", name, "--key-stdin", "--base-url", url, ...more], `${key}\n`);
  const stored = (): { current?: string; profiles: Record<string, Record<string, unknown>> } =>
    JSON.parse(readFileSync(file, "utf8"));
  return { folder, file, env, profile, add, stored };
}
