import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { methodList, type PaymentMethod } from "../api/contract/index.ts";
import { jsonIn } from "../domain/json.ts";
import { isOwnFile, makeDirectory } from "../platform/files.ts";
import { type Account, baseUrlText, readBaseUrl } from "./account.ts";
import type { Settings } from "./settings.ts";

const keptMs = 24 * 60 * 60_000;
/** What has not changed is written again after this: where a disk is busy, a rename waits for it. */
const writtenAnewMs = 60 * 60_000;

/** The methods of one account, looked up once and kept for a day. */
export interface MethodCache {
  read(): PaymentMethod[] | undefined;
  write(methods: PaymentMethod[]): void | Promise<void>;
}

/**
 * Opens the cache of an account. It only saves a request: a file that cannot be read or written is
 * as good as none. Its name tells nothing of the key.
 */
export function openMethodCache(folder: string, account: Account, now: () => number): MethodCache {
  const identity = createHash("sha256")
    .update(`${account.baseUrl}\n${account.apiKey}`)
    .digest("hex");
  const file = join(folder, `methods-${identity.slice(0, 24)}.json`);
  const readIfYounger = (ageMs: number): PaymentMethod[] | undefined => {
    try {
      const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
      return isYounger(kept, ageMs, now()) ? methodList.parse(kept.methods) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read: () => readIfYounger(keptMs),
    write: (methods) => {
      try {
        if (JSON.stringify(readIfYounger(writtenAnewMs)) === JSON.stringify(methods)) return;
        makeDirectory(folder, 0o700);
        const kept = { atMs: now(), profile: account.name, baseUrl: account.baseUrl, methods };
        writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
        renameSync(`${file}.new`, file);
        forgetOld(folder, now());
      } catch {
        // The next run asks the service again.
      }
    },
  };
}

/** The methods that were last looked up for a profile, however long ago. Needs no API key. */
export function keptMethods(folder: string, { profile, baseUrl }: Settings): PaymentMethod[] {
  const name = profile?.value ?? "environment variables";
  const url = baseUrlText(readBaseUrl(baseUrl?.value ?? ""));
  const [newest] = methodFiles(folder)
    .map((file) => keptFile.safeParse(jsonIn(readFileSync(file, "utf8"))?.value))
    .flatMap((read) => (read.success ? [read.data] : []))
    .filter((kept) => kept.profile === name && kept.baseUrl === url)
    .sort((one, other) => other.atMs - one.atMs);
  return newest?.methods ?? [];
}

const keptFile = z.object({
  atMs: z.number(),
  profile: z.string(),
  baseUrl: z.string(),
  methods: methodList,
});

function methodFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^methods-[0-9a-f]{24}\.json$/.test(name))
    .map((name) => join(folder, name));
}

/** Accounts come and go, those of a local sandbox at every start. */
function forgetOld(folder: string, nowMs: number): void {
  for (const file of methodFiles(folder).filter(isOwnFile)) {
    if (nowMs - statSync(file).mtimeMs > keptMs) rmSync(file, { force: true });
  }
}

function isYounger(kept: unknown, thanMs: number, nowMs: number): kept is { methods: unknown } {
  if (typeof kept !== "object" || kept === null || !("atMs" in kept) || !("methods" in kept))
    return false;
  const ageMs = nowMs - Number(kept.atMs);
  return ageMs >= 0 && ageMs < thanMs;
}
