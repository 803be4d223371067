import type { Channel } from "../../callbacks/channel.ts";
import type { Taken } from "../../callbacks/handle.ts";
import { type Intake, type IntakeOptions, openIntake } from "../../callbacks/intake.ts";
import { usualLimits } from "../../callbacks/limits.ts";
import { lookAt, poll, type Watched } from "../../callbacks/poll.ts";
import { openReceiver } from "../../callbacks/receiver.ts";
import type { Context, Ledger } from "../../cli/command/context.ts";
import { Failure } from "../../domain/failure.ts";
import { resources } from "../../domain/statuses.ts";
import { intakeWorld } from "./intake.ts";

interface Listening {
  /** Undefined: nothing is listened for. */
  port: number | undefined;
  forwardTo: string | undefined;
  isPolling: boolean;
  /** The payment that is waited for. */
  awaited: string | undefined;
}

const retryPauseMs = 5_000;
/** So many are watched of each kind; older ones are looked at with `list --refresh`. */
const mostWatched = 200;

/** Begins to receive and to ask; what comes of it goes into the channel. */
export async function openListening(
  { port, forwardTo, isPolling, awaited }: Listening,
  channel: Channel<Taken>,
  context: Context,
) {
  const over = new AbortController();
  const stopping = AbortSignal.any([context.stopping, over.signal]);
  const world = await intakeWorld(context);
  const options: IntakeOptions = {
    ...world,
    forwardTo,
    limits: usualLimits,
    stopping,
    onTaken: channel.give,
  };
  const intake = openIntake(options);
  if (awaited !== undefined) await firstLook(awaited, { look: world.look, intake });
  const receiver =
    port === undefined
      ? undefined
      : await openReceiver({
          port,
          limits: usualLimits,
          take: (received) => intake.take(received, "received"),
        });
  const retrying = takeUpAgain(intake, options);
  const ledger = await context.ledger();
  let fault: unknown;
  const open = (): Promise<Watched[]> => watched(ledger, awaited);
  const polling = isPolling
    ? poll({ ...options, open, intake }).catch((error: unknown) => {
        fault = error;
        channel.end();
      })
    : undefined;
  return {
    url: receiver?.url ?? null,
    /** @throws what ended the asking, if something did */
    check: (): void => {
      if (fault !== undefined) throw fault;
    },
    close: async (): Promise<void> => {
      const closed = receiver?.close();
      over.abort();
      await Promise.all([closed, intake.idle(), polling, retrying]);
    },
  };
}

/** What a run left behind, what the service did not answer, and what did not arrive is tried again. */
async function takeUpAgain(
  intake: Intake,
  { sleep, stopping }: Pick<IntakeOptions, "sleep" | "stopping">,
): Promise<void> {
  while (!stopping.aborted) {
    await intake.takeUp();
    await sleep(retryPauseMs, stopping);
  }
}

/** It may have ended before anybody listened, and then no callback comes any more. */
async function firstLook(awaited: string, around: Parameters<typeof lookAt>[1]): Promise<void> {
  const watched: Watched = { kind: "payment", id: awaited, status: "Processing" };
  const status = await lookAt(watched, around);
  if (status !== null) return;
  throw new Failure("not-found", `The service does not know ${awaited}.`, {
    hint: "Check the id, the profile and the base URL.",
    operation: awaited,
  });
}

/** What is not known to have ended; the one that is waited for may be another machine's. */
async function watched(ledger: Ledger, awaited: string | undefined): Promise<Watched[]> {
  const own: Watched[] = [];
  for (const kind of resources)
    for (const found of await ledger.list(kind, { status: "Processing", limit: mostWatched }))
      own.push({ kind, id: found.remoteId ?? "", status: found.status });
  const isKnown = awaited === undefined || own.some(({ id }) => id === awaited);
  return isKnown ? own : [...own, { kind: "payment", id: awaited, status: "Processing" }];
}
