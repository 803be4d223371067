import type { PaymentMethod } from "../../api/contract/index.ts";
import { recordsOwner } from "../../config/account.ts";
import { readProfiles } from "../../config/profiles.ts";
import { resolveSettings } from "../../config/settings.ts";
import { amountText } from "../../domain/amount.ts";
import { collect } from "../../domain/collect.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatPaisa } from "../../domain/money.ts";
import { isImported, isTest, isUnsettled } from "../../domain/state.ts";
import { rowsText } from "../../domain/text.ts";
import type { Batch } from "../../ledger/batch.ts";
import type { Operation } from "../../ledger/operation.ts";
import { type Listing, openListing } from "../../ledger/sqlite/listing.ts";
import type { Host } from "../../platform/host.ts";
import { clean } from "../output/terminal-text.ts";
import type { ConfigAccess } from "../runtime/config-access.ts";
import { ownerOf } from "../runtime/ledger-owner.ts";
import type { Named } from "./flag.ts";

/** A value that a prompt lists or Tab completes. */
export interface Candidate {
  text: string;
  shown: string;
  about: string;
  /** More spellings, for a search. */
  alsoFoundBy?: string;
  /** The reference of a payout. */
  reference?: string | null;
  /** True for an operation whose outcome is unknown. */
  isUnresolved?: boolean;
  /** True for an operation that `@last` and `@2` do not count. */
  isImported?: boolean;
}

/** The sources of candidates. Tab opens a ledger that can only list. */
export interface Sources {
  ledger(): Promise<Listing>;
  methods(): Promise<PaymentMethod[]>;
  profiles: Pick<ConfigAccess["profiles"], "read">;
}

/** The number of records that a prompt searches; an older one is named by its ID. */
const searched = 2000;

/** The values of a kind that this machine knows, newest first. */
export async function candidatesOf(
  kind: Exclude<Named, "file" | "csv-file">,
  sources: Sources,
  newest = searched,
): Promise<Candidate[]> {
  if (kind === "method") return methodCandidates(await sources.methods());
  if (kind === "profile") {
    const { profiles, current } = await sources.profiles.read();
    return Object.entries(profiles).map(([name, { environment }]) => {
      const about = `${environment}${name === current ? ", in use" : ""}`;
      return { text: name, shown: `${name}  ${about}`, about };
    });
  }
  const ledger = await sources.ledger();
  if (kind === "batch") return (await ledger.batches.list(newest)).map(batchCandidate);
  if (kind === "operation")
    return (await collect(ledger.list(undefined, { limit: newest }))).map(operationCandidate);
  return (await collect(ledger.list(kind, { limit: newest }))).flatMap((one) =>
    one.remoteId && !isTest(one)
      ? [{ ...operationCandidate(one), text: one.remoteId, reference: null, isUnresolved: false }]
      : [],
  );
}

/** The candidates that contain every typed word, in any order and case. */
export function fitting(typed: string, candidates: Candidate[]): Candidate[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return candidates.filter(({ text, shown, alsoFoundBy = "" }) => {
    const all = `${text} ${shown} ${alsoFoundBy}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Named by its code, or by its ID if the code could mean another method too. */
function methodCandidates(methods: PaymentMethod[]): Candidate[] {
  const names = methods.flatMap((one) => [
    ...new Set([one.codeName, one.providerName, one.id].map((name) => name.toLowerCase())),
  ]);
  return methods.map(({ id, codeName, providerName }) => ({
    text: names.filter((name) => name === codeName.toLowerCase()).length === 1 ? codeName : id,
    shown: `${providerName}  ${codeName}  ${id}`,
    about: providerName,
  }));
}

function batchCandidate({ id, name, createdAt, plan }: Batch): Candidate {
  const total = plan
    ? `${formatPaisa(plan.totalPaisa)}, ${rowsText(plan.rowCount)}`
    : "not planned";
  const columns = [name, total, formatTime(createdAt)];
  return { text: id, shown: [id, ...columns].join("  "), about: columns.join(", ") };
}

/** The field by which a person recognizes an operation, besides its amount. */
const aboutOf: Partial<Record<Operation["kind"], string>> = {
  payment: "description",
  payout: "recipientNumber",
  refund: "accountNumber",
};

function operationCandidate(operation: Operation): Candidate {
  const { id, remoteId, reference, kind, amountPaisa, asked, createdAt } = operation;
  const who = aboutOf[kind];
  const about = who === undefined ? operation.target : asked[who];
  const columns = [
    amountPaisa === null ? kind : formatPaisa(amountPaisa),
    typeof about === "string" ? about : "",
    operation.status ?? operation.state,
    formatTime(createdAt),
  ].filter(Boolean);
  return {
    text: id,
    shown: [remoteId ?? id, ...columns].join("  "),
    about: columns.join(", "),
    reference,
    isUnresolved: isUnsettled(operation),
    isImported: isImported(operation),
    alsoFoundBy: [
      ...[id, reference ?? "", kind, createdAt, asked.recipientName ?? ""],
      ...[asked.description ?? "", amountPaisa === null ? "" : amountText(amountPaisa)],
    ].join(" "),
  };
}

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
    const isRecord = kind !== "profile" && kind !== "method";
    const values = isRecord && typed.startsWith("@") ? byPlace(candidates) : byName(candidates);
    return values.map(({ text, about }) => ({ text, about: clean(about) }));
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

function sourcesOf(chosen: Chosen, host: Host): Sources {
  const profiles = () => readProfiles(host.folders.config);
  const settings = () => resolveSettings(chosen, host.env, profiles());
  return {
    profiles: { read: async () => profiles() },
    methods: async () => {
      const { keptMethods } = await import("../../config/method-cache.ts");
      return keptMethods(host.folders.data, settings());
    },
    ledger: async () => {
      const own = settings();
      // Tab sends nothing over the network.
      if (own.ledger) throw new Error("the ledger is on a server");
      return openListing(host.folders.data, ownerOf(recordsOwner(own)), tabWaitMs);
    },
  };
}

/** A person waits for the list. */
const tabWaitMs = 500;
