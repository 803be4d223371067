import { arch } from "node:os";
import type { Wire } from "../../api/client.ts";
import type { Transport } from "../../api/transport.ts";
import type { Account } from "../../config/account.ts";
import { openServiceClock, type ServiceClock } from "../../operations/world.ts";
import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Stop } from "./stop.ts";
import { tracer } from "./trace.ts";

export interface WireOptions {
  host: Host;
  globals: Globals;
  version: string;
  stop: Stop;
  notice: (text: string, reason?: string) => void;
  /** Shows a line of --verbose. */
  trace: (text: string) => void;
  scrub: (text: string) => string;
  learnSignature: (signature: string) => void;
}

/** The wires of a run: one for each account. */
export interface Wires {
  to(account: Account, payoutSecret: () => Promise<string>): Wire;
  clock: ServiceClock;
}

export function openWires(transport: Transport, options: WireOptions): Wires {
  const { host, globals, version, stop, trace, scrub, learnSignature } = options;
  const clock = openServiceClock();
  return {
    clock,
    to: ({ baseUrl, apiKey }, payoutSecret) => ({
      transport,
      baseUrl,
      apiKey,
      payoutSecret,
      userAgent: `lenden/${version} (node ${host.nodeVersion.slice(1)}; ${host.platform} ${arch()})`,
      now: host.now,
      random: () => randomShare(host),
      sleep: (ms) => host.sleep(ms, AbortSignal.any([stop.stopping, stop.cutOff])),
      signal: stop.cutOff,
      onSignature: learnSignature,
      onClock: clock.saw,
      ...(globals.verbose ? { onExchange: tracer(trace, scrub) } : {}),
    }),
  };
}

/** A number in [0, 1) from the host's random bytes. */
function randomShare(host: Host): number {
  const [a = 0, b = 0, c = 0, d = 0] = host.randomBytes(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}
