import {
  callbackFaultKinds,
  faultRules,
  readCallbackFault,
  readFault,
} from "../../api/contract/fault.ts";
import { readText, readWhole } from "../../cli/command/common-flags.ts";
import { flag, takes } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import { err, type Result } from "../../domain/result.ts";
import { readUrl } from "../../domain/url.ts";

const mostLatencyMs = 600_000;

/** The flags of `sandbox start` and `sandbox exec`: the options of a sandbox. */
export const sandboxFlags = (usualPort: number) => ({
  port: flag.optional(
    "--port <n>",
    `Port on 127.0.0.1; 0 for any free one (default: ${usualPort})`,
    readWhole(65_535),
  ),
  dataFile: flag.optional(
    "--data <file>",
    "File to store the data in (default: in memory)",
    readText,
    "file",
  ),
  autoCompleteMs: flag.optional(
    "--auto-complete <duration>",
    "Complete Processing records after this time",
    readDuration,
  ),
  latencyMs: flag.optional("--latency <duration>", "Delay of each response", readLatency),
  faults: flag.many(
    "--fault <rule>",
    "Make requests fail: <endpoint>:<kind>[:<rate>]",
    takes(faultRules, readFault),
  ),
  callbackFaults: flag.many(
    "--callback-fault <rule>",
    "Make callbacks fail: <kind>[:<rate>]",
    takes(Object.keys(callbackFaultKinds), readCallbackFault),
  ),
  refundCallbackUrl: flag.optional(
    "--refund-callback-url <url>",
    "URL for refund callbacks; payments have their own",
    readUrl,
  ),
  seed: flag.optional(
    "--seed <n>",
    "Seed: the same number gives the same IDs and faults",
    readWhole(2 ** 32),
  ),
});

function readLatency(text: string): Result<number> {
  const reading = readDuration(text);
  return reading.ok && reading.value > mostLatencyMs
    ? err("The duration is too long: at most 10m.")
    : reading;
}
