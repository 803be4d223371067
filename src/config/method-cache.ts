import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { methodList, type PaymentMethod } from "../api/contract/index.ts";
import { jsonIn } from "../domain/json.ts";
import { isOwnFile, makeDirectory } from "../platform/files.ts";
import { userNumber } from "../platform/host.ts";
import { type Account, baseUrlText, readBaseUrl, withoutProfile } from "./account.ts";
import type { Settings } from "./settings.ts";

const maxAgeMs = 24 * 60 * 60_000;

const fileSchema = z.object({
  atMs: z.number(),
  profile: z.string(),
  baseUrl: z.string(),
  methods: methodList,
});

/** The payment methods of one account, cached for a day. */
export interface MethodCache {
  read(): PaymentMethod[] | undefined;
  write(methods: PaymentMethod[]): void;
}

/**
 * Opens the cache of an account, one file with a name that shows nothing of the key. The cache only saves a
 * request: a file that cannot be read or written counts as missing.
 */
export function openMethodCache(
  dataFolder: string,
  account: Account,
  now: () => number,
): MethodCache {
  const folder = folderIn(dataFolder);
  const { apiKey, baseUrl, name: profile } = account;
  const identity = createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex");
  const file = join(folder, `methods-${identity.slice(0, 24)}.json`);
  return {
    read: () => {
      const stored = storedIn(file);
      const ageMs = now() - (stored?.atMs ?? 0);
      return ageMs >= 0 && ageMs < maxAgeMs ? stored?.methods : undefined;
    },
    write: (methods) => {
      try {
        makeDirectory(folder, 0o700);
        const stored = JSON.stringify({ atMs: now(), profile, baseUrl, methods });
        writeFileSync(`${file}.new`, stored, { mode: 0o600 });
        renameSync(`${file}.new`, file);
        removeOld(folder, now());
      } catch {
        // The next run retrieves them again.
      }
    },
  };
}

/** Not beside the ledger, where every file means that there was one. */
function folderIn(dataFolder: string): string {
  return join(dataFolder, "methods");
}

/**
 * The methods that were last retrieved for a profile, whatever their age; none if there is no base URL or no cache.
 * Needs no API key.
 */
export function keptMethods(dataFolder: string, { profile, baseUrl }: Settings): PaymentMethod[] {
  try {
    const name = profile?.value ?? withoutProfile;
    const url = baseUrlText(readBaseUrl(baseUrl?.value ?? ""));
    const [newest] = methodFiles(folderIn(dataFolder))
      .flatMap((file) => storedIn(file) ?? [])
      .filter((stored) => stored.profile === name && stored.baseUrl === url)
      .sort((one, other) => other.atMs - one.atMs);
    return newest?.methods ?? [];
  } catch {
    return [];
  }
}

function storedIn(file: string): z.infer<typeof fileSchema> | undefined {
  try {
    return fileSchema.safeParse(jsonIn(readFileSync(file, "utf8"))?.value).data;
  } catch {
    return undefined;
  }
}

function methodFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^methods-[0-9a-f]{24}\.json$/.test(name))
    .map((name) => join(folder, name));
}

/** Each start of a local sandbox is another account. */
function removeOld(folder: string, nowMs: number): void {
  for (const file of methodFiles(folder).filter((file) => isOwnFile(file, userNumber())))
    if (nowMs - statSync(file).mtimeMs > maxAgeMs) rmSync(file, { force: true });
}
