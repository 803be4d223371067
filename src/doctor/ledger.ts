import { join } from "node:path";
import { headPath } from "../ledger/head.ts";
import { checkHealth } from "../ledger/health.ts";
import { failed, passed, type Verdict, warning } from "./finding.ts";
import type { Patient } from "./patient.ts";

/** Whether the ledger opens and is whole, and whether something in it waits for a decision. */
export async function ledgerHealth({ folders }: Patient["host"]): Promise<Verdict> {
  const path = join(folders.data, "ledger.db");
  const health = await checkHealth(path, headPath(folders.config, path));
  if (!health) return passed("none yet; it is made when something is first sent");
  const { faults, uncertainCount, containsHead, isModified, bytes } = health;
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  if (faults.length > 0) {
    return failed(
      `${path} is damaged: ${faults.join("; ")}.`,
      "Send nothing before it is restored from a backup: what it forgot could be paid twice.",
    );
  }
  if (!containsHead) {
    return failed(
      `${path} was truncated, rolled back or replaced since lenden last wrote it.`,
      "Put the newest ledger back. To accept it as it is, run 'lenden ledger check --accept'.",
    );
  }
  if (isModified) {
    return failed(
      `${path} was modified: 'lenden ledger check' shows what.`,
      "Restore it from a backup. To accept it as it is, run 'lenden ledger check --accept'.",
    );
  }
  if (uncertainCount === 0) return passed(`its file is whole (${size}), and no outcome is unknown`);
  const operations = uncertainCount === 1 ? "1 operation" : `${uncertainCount} operations`;
  return warning(
    `Its file is whole (${size}), but the outcome of ${operations} is unknown.`,
    "'lenden ledger resolve' settles what can be settled.",
  );
}
