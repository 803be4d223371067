import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PaymentMethod } from "../api/contract/index.ts";
import { environments } from "../domain/api-keys.ts";
import type { Profile, Profiles } from "./profiles.ts";

/**
 * What a Tab sees of the files, in a few milliseconds: it reads them without their schema, leaves
 * out what it does not understand, and never takes a key out of them.
 */
export function glanceAtProfiles(folder: string): Profiles {
  const { current, profiles } = fieldsIn(join(folder, "profiles.json"));
  const known = Object.entries(fieldsOf(profiles)).flatMap(([name, found]) => {
    const profile = profileOf(found);
    return profile ? [[name, profile] as const] : [];
  });
  return {
    version: 1,
    profiles: Object.fromEntries(known),
    ...(typeof current === "string" ? { current } : {}),
  };
}

/** Whose methods and ids are meant. It holds no key: to fetch one, somebody may have to unlock it. */
export interface Whose {
  profile: string;
  baseUrl: string;
}

/** The methods that were last looked up for a profile, however long ago. */
export function glanceAtMethods(folder: string, { profile, baseUrl }: Whose): PaymentMethod[] {
  const [newest] = methodFiles(folder)
    .map(fieldsIn)
    .filter((kept) => kept.profile === profile && kept.baseUrl === baseUrl)
    .sort((one, other) => Number(other.atMs) - Number(one.atMs));
  return Array.isArray(newest?.methods) ? newest.methods.flatMap(methodOf) : [];
}

/** Where the methods of accounts are kept, one file each. */
export function methodFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^methods-[0-9a-f]{24}\.json$/.test(name))
    .map((name) => join(folder, name));
}

function profileOf(found: unknown): Profile | undefined {
  const { environment, baseUrl } = fieldsOf(found);
  const known = environments.find((one) => one === environment);
  return known && typeof baseUrl === "string" ? { environment: known, baseUrl } : undefined;
}

function methodOf(found: unknown): PaymentMethod[] {
  const { id, codeName, providerName } = fieldsOf(found);
  const isWhole = [id, codeName, providerName].every((one) => typeof one === "string");
  return isWhole
    ? [{ id: String(id), codeName: String(codeName), providerName: String(providerName) }]
    : [];
}

/** What is in a file of JSON; nothing where there is none, or where it is damaged. */
export function fieldsIn(file: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}

export function fieldsOf(found: unknown): Record<string, unknown> {
  return typeof found === "object" && found !== null ? { ...found } : {};
}
