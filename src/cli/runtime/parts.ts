import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Output } from "../output/render.ts";
import type { Scrubber } from "../output/scrub.ts";
import type { Stop } from "./stop.ts";

/** Shared by the parts of a run. */
export interface RunParts extends SessionOptions {
  /** Called at the end of the run, the last one first. */
  closing: (() => void | Promise<void>)[];
  stop: Stop;
  scrub(text: string): string;
  notice(text: string, reason?: string): void;
  /** Prints a line of --verbose. */
  trace(text: string): void;
  /** Called when a request that may change something at the API left this machine. */
  noteWrite(): void;
}

/** The options of a run. */
export interface SessionOptions {
  host: Host;
  globals: Globals;
  /** True if results and errors are JSON: then no notices are printed. */
  isJson: boolean;
  output: Output;
  version: string;
  /** The command's name, which the ledger stores. */
  command: string;
  /** The whole command line: a secret that was typed in place of an ID must not be sent. */
  argv: string[];
  scrubber: Scrubber;
  /** True if requests in flight may end after the first Ctrl-C, because they move money. */
  finishes: boolean;
  /** True if only --timeout limits the run. */
  patient: boolean;
}

/** Creates a value when it is first needed, at most once. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
