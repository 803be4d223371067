import { Failure, type FailureKind } from "../../domain/failure.ts";
import type { OutputFormat } from "../output/render.ts";
import type { View } from "../output/view.ts";
import type { Context } from "./context.ts";
import type { Guide } from "./dialogue.ts";
import { type Argument, type Flag, flag, type Input } from "./flag.ts";
import { type Given, readInput } from "./input.ts";
import { Preview } from "./preview.ts";

export interface Spec<F extends Record<string, Flag>, A extends Record<string, Argument>, Result> {
  name: string;
  /** One sentence without a full stop, for lists. */
  summary: string;
  /** More, for its own help. */
  details?: string;
  /** Command lines that work, each with what it does. */
  examples: Example[];
  arguments?: A;
  flags?: F;
  /** Whether it changes something at the service: then it takes --dry-run, and production asks. */
  writes?: boolean;
  /** Whether it has, for a result of a command that `writes`; all of them have, where it is left out. */
  changed?(result: Result): boolean;
  /** Whether it goes on until somebody stops it: then there is no deadline, and a stop is its good end. */
  untilStopped?: boolean;
  /** Whether it takes as long as its work does: then only --timeout ends it. */
  patient?: boolean;
  /** Whether what is in flight may end after the first Ctrl-C; so it is for all that `writes`. */
  finishes?: boolean;
  /** Whether the results that come one after the other are one list: JSON is then one array. */
  list?: boolean;
  /** How its result is printed when nobody says; a table, if left out. */
  format?: OutputFormat;
  /** Whether it refuses a production account before anything is sent. */
  sandboxOnly?: boolean;
  /** The exit codes, beside 0 and 2, that a script should know. */
  exits?: FailureKind[];
  /** What its dialogue adds; asked for before the first question, and may forbid it. */
  guide?(context: Context): Promise<Guide<F & A>>;
  run(
    input: Input<F & A> & { dryRun: boolean },
    context: Context,
  ): Promise<Result | Preview> | AsyncIterable<Result>;
  /** Left out where the command prints by itself: another program does, with our streams. */
  view?(result: Result): View;
  /** What JSON shows, where it is not the result itself. */
  json?(result: Result): unknown;
  /**
   * An ending that is not a success although there is a result; a number is another program's code.
   * A failure says more of it where the output is JSON.
   */
  ending?(result: Result): Ending;
}

export interface Example {
  /** Tests give it to a shell, with everything in place that it names. */
  line: string;
  /** What it does. It ends with 0, unless this begins with `exit <code>` or with `asks`. */
  says: string;
}

export type Ending = FailureKind | Failure | number | undefined;

/** One result of a run, ready to be shown in any format. */
export interface Shown {
  result: unknown;
  view: (() => View) | undefined;
  ending: Ending;
  /** Whether something was changed at the service: who cannot see the result has to know that. */
  changed: boolean;
  /** One of several that come one after the other: JSON is then one document a line. */
  streamed: boolean;
}

/** A command, whatever its types: what the program lists, completes and runs. */
export interface Command
  extends Omit<
    Spec<Record<string, Flag>, Record<string, Argument>, unknown>,
    "run" | "changed" | "view" | "json" | "ending" | "arguments" | "flags" | "guide"
  > {
  arguments: Record<string, Argument>;
  flags: Record<string, Flag>;
  start(given: Given, context: Context): AsyncIterable<Shown>;
}

/** A command is one value in one file: this makes it, and keeps its types together. */
export function defineCommand<
  Result,
  F extends Record<string, Flag> = Record<never, never>,
  A extends Record<string, Argument> = Record<never, never>,
>(spec: Spec<F, A, Result>): Command {
  const flags: Record<string, Flag> = { ...(spec.flags ?? {}), ...(spec.writes ? { dryRun } : {}) };
  const args: Record<string, Argument> = spec.arguments ?? {};
  return {
    ...spec,
    flags,
    arguments: args,
    async *start(given, context) {
      const { name, guide } = spec;
      const values = await readInput({ name, flags, arguments: args, guide }, given, context);
      if (spec.sandboxOnly) await refuseProduction(context);
      // The values were read by the very flags that the type is mapped from.
      const input = values as Input<F & A> & { dryRun: boolean };
      const running = spec.run(input, context);
      const streamed = Symbol.asyncIterator in running;
      for await (const result of streamed ? running : [await running]) {
        yield result instanceof Preview
          ? {
              result: result.request,
              view: () => result.view(),
              ending: undefined,
              changed: false,
              streamed,
            }
          : {
              result: spec.json ? spec.json(result) : result,
              view: viewOf(spec, result),
              ending: spec.ending?.(result),
              changed: spec.writes === true && spec.changed?.(result) !== false,
              streamed,
            };
      }
    },
  };
}

const dryRun = flag.toggle(
  "--dry-run",
  "Print the request that would be sent, secrets masked, and send nothing",
);

function viewOf<Result>(
  { view }: { view?: (result: Result) => View },
  result: Result,
): (() => View) | undefined {
  return view && (() => view(result));
}

async function refuseProduction(context: Context): Promise<void> {
  const { environment, name } = await context.account();
  if (environment === "sandbox") return;
  throw new Failure(
    "account.production",
    `This command needs a sandbox account, but ${name} is a production account.`,
    { hint: "Select a sandbox profile with --profile, or run it in 'lenden sandbox exec'." },
  );
}
