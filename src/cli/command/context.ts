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
  /** Stops the run as the first Ctrl-C does, and aborts requests in flight after this time, in milliseconds. */
  stopWithin(ms: number): void;
  /** Masks the secrets of the run in a text that is printed. */
  scrub(text: string): string;
  /** How many requests that may change something at the API left this machine. */
  written(): number;
  /**
   * The error as this run explains it: the commands of its hint name the profile, and if the API rejected a signed
   * request, it says where the payout secret came from.
   */
  explained(error: unknown): unknown;
}
