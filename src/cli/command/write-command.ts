import type { Confirmation } from "../terminal/confirm.ts";
import { type Command, type Context, defineCommand, type Spec } from "./define-command.ts";
import type { Argument, Flag, Input } from "./flag.ts";
import type { Preview } from "./preview.ts";

/** The steps of a command that changes something at the API, in their order. */
interface Steps<Given, Plan, Result> {
  /** Turns what was typed into what is sent: IDs, a reference, a body. Changes nothing. */
  resolve(given: Given & { dryRun: boolean }, context: Context): Promise<Plan>;
  /** The request, for --dry-run, which ends here; a result if there is nothing to send. */
  preview(plan: Plan, context: Context): Promise<Preview | Result>;
  /**
   * What is confirmed in production.
   *
   * @throws Failure if what is to be sent is rejected anyway: a person is not asked in vain
   */
  question?(plan: Plan, context: Context): Promise<Confirmation | undefined>;
  /** Sends it, and waits for its final status with --wait. */
  send(plan: Plan, context: Context): Promise<Result>;
}

/** Defines a command that changes something at the API: all have the same steps in the same order. */
export function writeCommand<
  Plan,
  Result,
  F extends Record<string, Flag> = Record<never, never>,
  A extends Record<string, Argument> = Record<never, never>,
>({
  resolve,
  preview,
  question,
  send,
  ...spec
}: Omit<Spec<F, A, Result>, "run" | "mode"> & Steps<Input<F & A>, Plan, Result>): Command {
  return defineCommand<Result, F, A>({
    ...spec,
    mode: "write",
    async run(given, context) {
      const plan = await resolve(given, context);
      if (given.dryRun) return preview(plan, context);
      const asked = await question?.(plan, context);
      if (asked) await context.ui.confirm(asked);
      return send(plan, context);
    },
  });
}
