import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type RecordsOwner, recordsOwner } from "../../config/account.ts";
import { readProfiles } from "../../config/profiles.ts";
import { resolveSettings } from "../../config/settings.ts";
import { createRunAccount } from "../../ledger/sqlite/accounts.ts";
import { createReads } from "../../ledger/sqlite/reads.ts";
import type { Host } from "../../platform/host.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { type Candidate, candidatesOf, type Sources } from "../command/candidates.ts";
import type { Named } from "../command/flag.ts";
import { clean } from "../output/terminal-text.ts";
import { ownerOf } from "../runtime/ledger-file.ts";

/** A word that can complete the line, and what it means. */
export interface Completion {
  text: string;
  about: string;
}

/** The account that the command line names. */
export interface Chosen {
  profile: string | undefined;
  baseUrl: string | undefined;
}

/** Per kind. */
const mostOffered = 30;

/**
 * The values of this machine that a flag or an argument can have, newest first. Never fails: without a
 * profile, a ledger or a readable file there are none.
 */
export async function knownValues(
  kind: Exclude<Named, "file" | "csv-file">,
  typed: string,
  chosen: Chosen,
  host: Host,
): Promise<Completion[]> {
  try {
    const candidates = await candidatesOf(kind, sourcesOf(chosen, host), mostOffered);
    const isRecord = !["profile", "method", "mapping"].includes(kind);
    const values = isRecord && typed.startsWith("@") ? byPlace(candidates) : byName(candidates);
    return values
      .filter(({ text }) => isPlain(text))
      .map(({ text, about }) => ({ text, about: clean(about) }));
  } catch {
    return [];
  }
}

/** Operations by their reference; those of unknown outcome come first. */
function byName(candidates: Candidate[]): Completion[] {
  return [
    ...candidates.filter(({ isUnresolved }) => isUnresolved),
    ...candidates.filter(({ isUnresolved }) => !isUnresolved),
  ].map(({ text, reference, about }) => ({ text: reference ?? text, about }));
}

/** `@last`, `@2` and so on, each with the name that it stands for. */
function byPlace(candidates: Candidate[]): Completion[] {
  const counted = candidates.filter((one) => !one.isImported);
  return counted.map(({ text, reference, about }, index) => ({
    text: index === 0 ? "@last" : `@${index + 1}`,
    about: `${reference ?? text}, ${about}`,
  }));
}

/** Such a value means itself in every shell. ASCII first: V8 needs 4 ms to learn all other letters. */
function isPlain(value: string): boolean {
  if (/^@?\w[\w.:+-]*$/.test(value)) return true;
  return /^@?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:+-]*$/u.test(value);
}

function sourcesOf(chosen: Chosen, host: Host): Sources {
  const profiles = () => readProfiles(host.folders.config);
  const settings = () => resolveSettings(chosen, host.env, profiles());
  return {
    profiles: { read: async () => profiles() },
    mappings: async () => {
      const { openMappings } = await import("../../accounting/mappings.ts");
      return openMappings(host.folders.config).names();
    },
    methods: async () => {
      const { keptMethods } = await import("../../config/method-cache.ts");
      return keptMethods(host.folders.data, settings());
    },
    ledger: async () => {
      const own = settings();
      // Tab sends nothing over the network.
      if (own.ledger) throw new Error("the ledger is on a server");
      return openToList(host.folders.data, recordsOwner(own));
    },
  };
}

/** Opens the ledger to list what is in it. Creates, migrates and locks nothing. */
async function openToList(directory: string, owned: RecordsOwner): ReturnType<Sources["ledger"]> {
  const path = join(directory, "ledger.db");
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (!isAbsolute(path) || size === 0) throw new Error("no ledger");
  const database = await openDatabase(path);
  const owner = ownerOf(owned);
  const account = createRunAccount(database, owner);
  return {
    ...createReads(database, { owner }, account),
    batches: {
      list: async (limit) => {
        const { listBatches } = await import("../../ledger/sqlite/batches.ts");
        return listBatches(database, account, limit);
      },
    },
  };
}
