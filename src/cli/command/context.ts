import type { ClientOf } from "../../api/client.ts";
import type { Input } from "../../api/contract/endpoint.ts";
import type { PaymentMethod, ServiceContract } from "../../api/contract/index.ts";
import type { localContract } from "../../api/contract/local.ts";
import type { RawCall, RawResponse } from "../../api/raw.ts";
import type { Answer } from "../../api/response.ts";
import type { Account } from "../../config/account.ts";
import type { MethodCache } from "../../config/method-cache.ts";
import type { Profile, Profiles, SecretSource } from "../../config/profiles.ts";
import type { Keychain } from "../../config/secrets.ts";
import type { Settings, Sourced } from "../../config/settings.ts";
import type { Paisa } from "../../domain/amount.ts";
import type { Environment } from "../../domain/api-keys.ts";
import type { Resource } from "../../domain/statuses.ts";
import type { Batch, BatchFile } from "../../ledger/batch.ts";
import type { StoredCallback } from "../../ledger/callback.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Operation } from "../../ledger/operation.ts";
import type { Integrity } from "../../ledger/sqlite/integrity.ts";
import type { World } from "../../operations/world.ts";
import type { Host } from "../../platform/host.ts";
import type { RunningSandbox, SandboxOptions } from "../../sandbox/server.ts";
import type { View } from "../output/view.ts";
import type { Ask } from "../prompts/ask.ts";
import type { Progress } from "../terminal/speech.ts";
import type { Preview } from "./preview.ts";

/**
 * What a command gets to work with. Everything dear is a function, so that a command pays for
 * nothing that it does not use.
 */
export interface Context {
  host: Host;
  /** Of lenden. */
  version: string;
  /** What a run goes by; of another profile than the chosen one, if a name is given. */
  settings(profile?: string): Promise<Settings>;
  /** The account that requests go to, once key, environment and base URL agree (exit 4 if not). */
  account(): Promise<Account>;
  /** @throws Failure `access` that says which sources were tried */
  payoutSecret(): Promise<string>;
  /** Whether a text holds a key or a secret that this run knows. */
  holdsSecret(text: string): boolean;
  /** @throws Failure `usage`, without the text, if one holds the API key or the payout secret */
  refuseSecrets(...texts: string[]): Promise<void>;
  world(): Promise<World>;
  /** The same; every response of the API is also shown to `onResponse`. */
  watchedWorld(onResponse: (response: RawResponse) => void): Promise<World>;
  /** The ledger of the account. */
  ledger(): Promise<Ledger>;
  /** The ledger for a command that only reads it: needs no API key. Without an account it has all of them. */
  records(): Promise<Ledger>;
  /** The ledger as a file: of all accounts at once, and without a key. */
  ledgerMaintenance(): Promise<LedgerMaintenance>;
  /** An id as it was typed, or the newest one of its kind in the ledger: `@last`, `@2`, … */
  idOf(kind: Resource, typed: string): Promise<string>;
  /** The world of another account than the chosen one: the demo's own sandbox. */
  worldOf(account: Account, payoutSecret: string): Promise<World>;
  /** Sends a call that a person wrote by hand; @throws Failure `unreachable` if it never left. */
  raw(call: RawCall): Promise<RawOutcome>;
  previewRaw(call: RawCall): Promise<Preview>;
  /** What only a local sandbox offers. */
  local(): Promise<ClientOf<typeof localContract>>;
  methodCache(): Promise<MethodCache>;
  /** The methods of the account, as they were kept; asks the service where they were not. */
  methods(): Promise<PaymentMethod[]>;
  /** The id of the method that was named; of a dry run, without asking the service. */
  methodId(wanted: MethodWanted): Promise<string>;
  /** The request that would be sent. */
  preview<Name extends keyof ServiceContract>(
    name: Name,
    input: Input<ServiceContract[Name]>,
  ): Promise<Preview>;
  /** Says what is about to happen; on a production account nobody passes without a yes. */
  confirm(question: Confirmation): Promise<void>;
  /** How to ask the person; undefined where nobody can be asked: off a terminal, in CI. */
  ask(): Promise<Ask | undefined>;
  /** What the run is about, for errors that do not name it: a reference that lenden generated. */
  concerns(operation: string): void;
  /**
   * One line for the person, on stderr; JSON output has none of them.
   *
   * @param reason a stable identifier if the line is a warning about money: JSON output shows it
   *   as one of the `warnings` of the result, or of the error
   */
  notice(text: string, reason?: string): void;
  /** A view for the person, on stderr: what a question is about. */
  show(view: View): Promise<void>;
  /** Draws a text as a QR code on stderr; where it cannot be drawn, it says so. */
  showQr(text: string): Promise<void>;
  /** Shows how far something is, on stderr, until it is closed; `line` is asked for whenever it is drawn. */
  progress(line: () => string[]): Progress;
  profiles: {
    read(): Promise<Profiles>;
    change(change: (now: Profiles) => Profiles): Promise<void>;
    /** Holds a new profile against the environment lock (exit 4 if it does not fit). */
    check(candidate: ProfileCandidate): Promise<Account>;
    /** The file that they are kept in. */
    file(): Promise<string>;
    /** The base URL that this run was given, whatever profile there is. */
    baseUrlGiven(): Promise<string | undefined>;
  };
  /** The operating system's keychain; asked only when it is used. */
  keychain(): Promise<Keychain>;
  startSandbox(options: SandboxOptions): Promise<RunningSandbox>;
  /** Fires at the first Ctrl-C or SIGTERM. */
  stopping: AbortSignal;
}

export interface RawOutcome extends RawResponse {
  answer: Exclude<Answer, { kind: "unsent" }>;
}

export interface LedgerMaintenance {
  /** Reads the whole ledger; it is created if there was none so far. */
  check(): Promise<LedgerCheck>;
  /** Writes a consistent copy while others write the ledger. */
  backup(file: string): Promise<LedgerContent>;
  /** Checks a backup; the ledger is replaced only by `restore`. */
  prepareRestore(file: string): Promise<LedgerRestore>;
  /** Why a user has to accept the ledger before anything is sent; undefined if there is no reason. */
  unaccepted(): Promise<UnacceptedLedger | undefined>;
}

export interface LedgerCheck extends Integrity {
  holds: boolean;
  /** Whether the ledger contains the newest event that was stored outside of it, if that is known. */
  head: "contained" | "not-contained" | "missing" | "unreadable";
  /** Whether newer changes in its log could not be read: the ledger is read-only, and so is its log. */
  lacksLog: boolean;
}

export interface LedgerContent {
  operations: number;
  events: number;
  /** When the newest event was; null without events. */
  newestAt: string | null;
}

export interface LedgerRestore {
  backup: LedgerContent;
  /** Null if there is no ledger that can be read. */
  current: LedgerContent | null;
  /** Deletes what was prepared. */
  discard(): void;
  /**
   * Puts the backup in place of the ledger; a user has to accept it before anything is sent.
   *
   * @returns the new name of the earlier ledger, if there was one
   * @throws Failure `locked` if another process uses the ledger; nothing was changed
   */
  restore(): Promise<string | null>;
}

/** A ledger that knows less than an earlier one did, or that was modified. */
export interface UnacceptedLedger {
  path: string;
  /** Truncated: also by a rollback to an older copy. */
  state: "empty" | "missing" | "truncated" | "replaced" | "modified";
  /** The hash of its newest event; null if it has none. */
  newest: string | null;
  /** Records that a user accepted it; starts a new ledger in place of an empty or missing one. */
  accept(): Promise<void>;
}

interface MethodWanted {
  method: string | undefined;
  /** Sent as it is, unlooked. */
  methodId: string | undefined;
  dryRun: boolean;
}

export interface Confirmation {
  /** What is about to happen: `Send a payout`. */
  action: string;
  /** Label and value, as they are shown. */
  rows: [string, string][];
  /** The sum that it is about: above the profile's limit a person types it. */
  amountPaisa?: Paisa;
  /** Whether a sandbox account sees the rows too; it is never asked. */
  alwaysShown?: boolean;
  /** Whether it concerns all accounts of this machine: then no profile is shown, and none is needed. */
  ofAllAccounts?: boolean;
  /** The stored profile that is about to change. No request is sent to its account. */
  profile?: { name: string; environment: Environment; key: string };
  /** Each is confirmed in a terminal, in the sandbox too. Otherwise, and with --yes, it is printed. */
  warnings?: Warning[];
  /** Whether a sandbox account is asked too. */
  alwaysAsked?: boolean;
  /** For what moves a sum worth a second thought: the text that a person types to go on. */
  typed?: {
    what: string;
    matches(text: string): boolean;
    /** Whether the command line said it already: then --yes is enough. */
    isGiven: boolean;
    /** The flags with which it can be said. */
    flags: string;
  };
}

/** A warning about money that a person confirms. */
export interface Warning {
  /** A stable identifier for scripts. */
  reason: string;
  message: string;
  /** The question that confirms it in a terminal. */
  question: string;
}

interface ProfileCandidate {
  name: string | undefined;
  apiKey: SecretSource;
  payoutSecret?: SecretSource | undefined;
  environment: Environment | undefined;
  /** The --base-url of this run, if left out. */
  baseUrl?: string;
}

export type {
  Account,
  Batch,
  BatchFile,
  Ledger,
  Operation,
  Profile,
  Profiles,
  RunningSandbox,
  SandboxOptions,
  SecretSource,
  Settings,
  Sourced,
  StoredCallback,
};
