import type { Page } from "./page.ts";

/** Something to read that is no command. */
interface Topic {
  name: string;
  /** One sentence without a full stop, for lists. */
  summary: string;
  load(): Promise<{ page: Page }>;
}

/** All topics; what each of them says is loaded only when it is asked for. */
export const topics: Topic[] = [
  {
    name: "flags",
    summary: "The flags that every command takes",
    load: () => import("./topics/flags.ts"),
  },
  {
    name: "exit-codes",
    summary: "How a run ends, and whether it may run again",
    load: () => import("./topics/exit-codes.ts"),
  },
  {
    name: "environment",
    summary: "The environment variables that count",
    load: () => import("./topics/environment.ts"),
  },
  {
    name: "profiles",
    summary: "Accounts, and where keys and secrets lie",
    load: () => import("./topics/profiles.ts"),
  },
  {
    name: "money-safety",
    summary: "How repeated commands do not pay twice",
    load: () => import("./topics/money-safety.ts"),
  },
  {
    name: "ci",
    summary: "lenden in scripts and in CI",
    load: () => import("./topics/ci.ts"),
  },
  {
    name: "amounts",
    summary: "How amounts, mobile numbers and references are written",
    load: () => import("./topics/amounts.ts"),
  },
  {
    name: "times",
    summary: "How durations and times are written",
    load: () => import("./topics/times.ts"),
  },
  {
    name: "statuses",
    summary: "What Processing, UNCERTAIN and the other words mean",
    load: () => import("./topics/statuses.ts"),
  },
  {
    name: "ids",
    summary: "Which id names what, and @last",
    load: () => import("./topics/ids.ts"),
  },
  {
    name: "output",
    summary: "Tables, JSON, CSV, colours and errors",
    load: () => import("./topics/output.ts"),
  },
  {
    name: "batch",
    summary: "The file of payouts, and how it is paid",
    load: () => import("./topics/batch.ts"),
  },
  {
    name: "faults",
    summary: "What the local sandbox can get wrong on purpose",
    load: () => import("./topics/faults.ts"),
  },
];
