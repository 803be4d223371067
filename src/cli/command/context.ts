import type { Host } from "../../platform/host.ts";
import type { ApiAccess } from "../runtime/api-access.ts";
import type { ConfigAccess } from "../runtime/config-access.ts";
import type { LedgerAccess } from "../runtime/ledger-access.ts";
import type { Ui } from "../terminal/ui.ts";

/** The parts that a command works with. Each is loaded when a command first uses it. */
export interface Context {
  /** Streams, clock, random bytes, environment and directories. */
  host: Host;
  /** The version of lenden. */
  version: string;
  config: ConfigAccess;
  ledger: LedgerAccess;
  api: ApiAccess;
  ui: Ui;
  /** Aborts at the first Ctrl-C or SIGTERM. */
  stopping: AbortSignal;
  /** Aborts at the deadline of the run, and at the signal that ends requests in flight. */
  cutOff: AbortSignal;
  /** How long the ledger may still be waited for, in milliseconds. */
  leftMs(): number;
}
