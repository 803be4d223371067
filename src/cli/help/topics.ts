import type { Section } from "./page.ts";

/** Something to read besides the help of the commands. */
interface Topic {
  name: string;
  /** Without a period, for lists. */
  summary: string;
  load(): Promise<Section[]>;
}

/** At most six: everything else is in docs/. A text is loaded when it is asked for. */
export const topics: Topic[] = [
  {
    name: "flags",
    summary: "Flags of every command, and environment variables",
    load: async () => (await import("./topics/flags.ts")).sections(),
  },
  {
    name: "exit-codes",
    summary: "Exit codes, and whether a command may be run again",
    load: async () => (await import("./topics/exit-codes.ts")).sections(),
  },
  {
    name: "money-safety",
    summary: "How repeated commands do not pay twice",
    load: async () => (await import("./topics/money-safety.ts")).sections(),
  },
  {
    name: "formats",
    summary: "Amounts, numbers, references, IDs, times, output",
    load: async () => (await import("./topics/formats.ts")).sections(),
  },
  {
    name: "batch",
    summary: "The CSV file of a batch, and how it is sent",
    load: async () => (await import("./topics/batch.ts")).sections(),
  },
  {
    name: "faults",
    summary: "Faults that the local sandbox injects",
    load: async () => (await import("./topics/faults.ts")).sections(),
  },
];
