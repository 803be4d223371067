import {
  type CallbackFault,
  type Fault,
  readCallbackFault,
  readFault,
} from "../../api/contract/fault.ts";
import { readWhole, readWord } from "../../cli/command/common-flags.ts";
import type { SandboxOptions } from "../../cli/command/context.ts";
import { flag } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import { type Reading, rejected } from "../../domain/reading.ts";
import { readUrl } from "../../domain/url.ts";

const mostLatencyMs = 600_000;

/** The options of `sandbox start` and `sandbox exec`. */
export const sandboxFlags = {
  port: flag.optional(
    "--port <n>",
    "The port on 127.0.0.1; 0 takes any free one",
    readWhole(65_535),
  ),
  data: flag.optional(
    "--data <file>",
    "Keep payments, payouts and keys in this file (in memory, if left out)",
    readWord,
    "file",
  ),
  autoComplete: flag.optional(
    "--auto-complete <duration>",
    "Complete what is Processing after this time, for example 2s",
    readDuration,
  ),
  latency: flag.optional(
    "--latency <duration>",
    "Wait this long before every answer, for example 100ms",
    readLatency,
  ),
  fault: flag.many(
    "--fault <rule>",
    "Misbehave: <endpoint>:<kind>[:<share>], for example createPayout:lost-reply:0.3",
    readFault,
  ),
  callbackFault: flag.many(
    "--callback-fault <rule>",
    "Misbehave with callbacks: <kind>[:<share>], for example lost:0.2",
    readCallbackFault,
  ),
  refundCallbackUrl: flag.optional(
    "--refund-callback-url <url>",
    "Where to tell of refunds (payments bring their own address)",
    readUrl,
  ),
  seed: flag.optional(
    "--seed <n>",
    "Make ids, keys and faults the same every time",
    readWhole(2 ** 32),
  ),
};

/** A duration, or a bare number of milliseconds. */
function readLatency(text: string): Reading<number> {
  if (/^[0-9]+$/.test(text)) return readWhole(mostLatencyMs)(text);
  const reading = readDuration(text);
  return reading.ok && reading.value > mostLatencyMs
    ? rejected("This duration is too long; at most 10m.")
    : reading;
}

interface Given {
  port: number | undefined;
  data: string | undefined;
  autoComplete: number | undefined;
  latency: number | undefined;
  fault: Fault[];
  callbackFault: CallbackFault[];
  refundCallbackUrl: string | undefined;
  seed: number | undefined;
}

export function sandboxOptions(
  given: Given,
  { port, now }: { port: number; now: () => number },
): SandboxOptions {
  return {
    port: given.port ?? port,
    faults: given.fault,
    callbackFaults: given.callbackFault,
    now,
    ...(given.data === undefined ? {} : { dataFile: given.data }),
    ...(given.autoComplete === undefined ? {} : { autoCompleteMs: given.autoComplete }),
    ...(given.latency === undefined ? {} : { latencyMs: given.latency }),
    ...(given.refundCallbackUrl === undefined
      ? {}
      : { refundCallbackUrl: given.refundCallbackUrl }),
    ...(given.seed === undefined ? {} : { seed: given.seed }),
  };
}
