import type { RawCall, RawOutcome } from "../api/raw.ts";
import type { Account, RecordsOwner } from "../config/account.ts";
import type { Settings } from "../config/settings.ts";
import { errorCode } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LedgerMaintenance } from "../ledger/maintenance.ts";
import type { Host } from "../platform/host.ts";

/** What the checks examine. */
export interface CheckContext {
  host: Host;
  version: string;
  /** How long the ledger may still be waited for, in milliseconds. */
  leftMs(): number;
  config: {
    settings(): Promise<Settings>;
    account(): Promise<Account>;
    payoutSecret(): Promise<unknown>;
    recordsOwner(): Promise<Pick<RecordsOwner, "environment">>;
  };
  api: { raw(call: RawCall): Promise<RawOutcome> };
  ledger: {
    records(): Promise<Pick<Ledger, "account">>;
    maintenance(): Promise<Pick<LedgerMaintenance, "serverHealth" | "fileBeside">>;
  };
}

export interface Verdict {
  state: "passed" | "warning" | "failed" | "skipped";
  message: string;
  /** What to do; null if there is nothing to do. */
  hint: string | null;
  /** The reason of the error that a command would end with, if there is one. */
  reason?: string;
}

export interface Finding extends Verdict {
  check: string;
}

export function passed(message: string): Verdict {
  return { state: "passed", message, hint: null };
}

export function warning(message: string, hint: string): Verdict {
  return { state: "warning", message, hint };
}

export function failed(message: string, hint: string): Verdict {
  return { state: "failed", message, hint };
}

export function skipped(message: string): Verdict {
  return { state: "skipped", message, hint: null };
}

/** Never rejects: an error of one check does not keep the others from running. */
export async function check(
  name: string,
  examine: () => Verdict | Promise<Verdict>,
): Promise<Finding> {
  try {
    return { check: name, ...(await examine()) };
  } catch (error) {
    return { check: name, ...verdictOf(error) };
  }
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof Failure)
    return {
      ...failed(
        error.message,
        error.details.hint ?? "Fix the problem above, then run 'lenden doctor' again.",
      ),
      reason: error.reason,
    };
  const code = errorCode(error);
  if (code?.startsWith("SQLITE_"))
    return failed(
      `The ledger is damaged (${code}).`,
      "To restore a backup, run 'lenden ledger restore <file>'.",
    );
  return failed(
    `The check could not run${code ? ` (${code})` : ""}.`,
    "Run 'lenden doctor' with LENDEN_DEBUG=1 and report what it prints.",
  );
}
