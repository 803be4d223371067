import type { Context } from "../frame/context.ts";

/** What is looked at: a run's own surroundings. */
export type Patient = Pick<
  Context,
  "host" | "version" | "settings" | "account" | "payoutSecret" | "raw"
>;
