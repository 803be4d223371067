import type { Context } from "../cli/command/context.ts";

/** What is looked at: a run's own surroundings. */
export type Patient = Pick<
  Context,
  "host" | "version" | "settings" | "account" | "payoutSecret" | "raw"
>;
