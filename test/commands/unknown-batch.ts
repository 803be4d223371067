import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost } from "../support/lenden.ts";
import { type Merchant, openMerchant, payoutNumber } from "../support/merchant.ts";

/** A batch of four rows on lines 2 to 5: the first is accepted, the outcome of the others is unknown. */
export interface UnknownBatch {
  merchant: Merchant;
  file: string;
  /** `payout batch resolve <file>` with these arguments. */
  resolve(...more: string[]): string[];
  /** The state of each row, in the order of the file. */
  states(): Promise<unknown[]>;
}

export async function unknownBatch(): Promise<UnknownBatch> {
  const ill = faults();
  const merchant = await openMerchant({ faults: ill });
  const rows = [1, 2, 3, 4].map((index) => `ROW-${index},5,017${10_000_000 + index},bkash\n`);
  const file = fileOf(`ref,amount,to,method\n${rows.join("")}`);
  await merchant.id(payoutNumber(1, "ROW-1"));
  ill.push(...faults("createPayout:status-500"));
  const send = ["payout", "batch", "send", file, "--timeout", "30s"];
  const { code, stderr } = await merchant.lenden(send, { host: jumpingHost() });
  if (code !== 75) throw new Error(`the batch ended with ${code}: ${stderr}`);
  ill.splice(0);
  return {
    merchant,
    file,
    resolve: (...more) => ["payout", "batch", "resolve", file, ...more],
    states: async () => {
      const operations = await merchant.inLedger((ledger) =>
        ledger.prepare("SELECT state FROM operations ORDER BY reference").all(),
      );
      return operations.map(({ state }) => state);
    },
  };
}

export const threeUnknown = ["CONFIRMED", "UNCERTAIN", "UNCERTAIN", "UNCERTAIN"];
