import type { Host } from "../../platform/host.ts";
import type { ServerLogin } from "./connection.ts";

/** A ledger on a server, as a run of this machine reaches it. */
export interface ServerPlace {
  /** The URL without a password. */
  url: string;
  /** The file with the head that is stored on this machine. */
  headFile: string;
  /** Gets the password, for which a person may have to be waited for. */
  login(): Promise<ServerLogin>;
  host: Host;
  /** How long the ledger may still be waited for, in milliseconds. */
  leftMs(): number;
}
