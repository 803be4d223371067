import {
  callbackFaultKinds,
  faultRules,
  readCallbackFault,
  readFault,
} from "../../api/contract/fault.ts";
import { readWhole, readWord } from "../../cli/command/common-flags.ts";
import { flag, type Input, takes } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import { err, type Result } from "../../domain/result.ts";
import { readUrl } from "../../domain/url.ts";
import type { SandboxOptions } from "../../sandbox/server.ts";

const mostLatencyMs = 600_000;

/** The flags of `sandbox start` and `sandbox exec`, which differ in the usual port. */
export const sandboxFlags = (usualPort: number) => ({
  port: flag.optional(
    "--port <n>",
    `Port on 127.0.0.1; 0 is any (default: ${usualPort})`,
    readWhole(65_535),
  ),
  data: flag.optional("--data <file>", "Store data here (default: in memory)", readWord, "file"),
  autoComplete: flag.optional(
    "--auto-complete <duration>",
    "Complete Processing records after this time",
    readDuration,
  ),
  latency: flag.optional("--latency <duration>", "Delay of each response", readLatency),
  fault: flag.many(
    "--fault <rule>",
    "Inject a fault: <endpoint>:<kind>[:<rate>]",
    takes(faultRules, readFault),
  ),
  callbackFault: flag.many(
    "--callback-fault <rule>",
    "Inject a callback fault: <kind>[:<rate>]",
    takes(Object.keys(callbackFaultKinds), readCallbackFault),
  ),
  refundCallbackUrl: flag.optional(
    "--refund-callback-url <url>",
    "Callback URL for refunds; payments set their own",
    readUrl,
  ),
  seed: flag.optional("--seed <n>", "Repeat IDs, keys and faults in every run", readWhole(2 ** 32)),
});

function readLatency(text: string): Result<number> {
  const reading = readDuration(text);
  return reading.ok && reading.value > mostLatencyMs
    ? err("The duration is too long: at most 10m.")
    : reading;
}

export function sandboxOptions(
  given: Input<ReturnType<typeof sandboxFlags>>,
  defaults: { port: number; now: () => number },
): SandboxOptions {
  const { data, autoComplete, latency, fault, callbackFault, refundCallbackUrl, seed } = given;
  return {
    ...defaults,
    refundCallbackUrl,
    seed,
    ...(given.port !== undefined && { port: given.port }),
    dataFile: data,
    autoCompleteMs: autoComplete,
    latencyMs: latency,
    faults: fault,
    callbackFaults: callbackFault,
  };
}
