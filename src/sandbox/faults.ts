import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Fault, FaultKind } from "../api/contract/fault.ts";
import type { Answer } from "./checks.ts";

/** The first rule that applies to this request. `draw` returns a number from 0 to below 1. */
export function chooseFault(
  faults: readonly Fault[],
  endpoint: string,
  draw: () => number,
): Fault | undefined {
  return faults.find(
    (fault) =>
      (fault.endpoint === endpoint || fault.endpoint === "*") &&
      (fault.rate === 1 || draw() < fault.rate),
  );
}

/** The status that a caller sees; null if it sees none. */
export function visibleStatus(answer: Answer, fault: Fault | undefined): number | null {
  const seen: { [Kind in FaultKind]?: number | null } = {
    empty: 200,
    redirect: 307,
    reset: null,
    "lost-reply": null,
    hang: null,
    "hang-after": null,
  };
  const status = fault && seen[fault.kind];
  return status === undefined ? answer.status : status;
}

const json = { "content-type": "application/json" };

export function deliver(outgoing: ServerResponse, { status, text }: Answer): void {
  outgoing.writeHead(status, { ...json, "content-length": Buffer.byteLength(text) });
  outgoing.end(text);
}

type Delivery = (outgoing: ServerResponse, answer: Answer) => void | Promise<void>;

/** How a response with a fault is delivered. */
export const deliveries: { [Kind in FaultKind]: Delivery } = {
  latency: deliver,
  status: deliver,
  reset,
  "lost-reply": reset,
  // Only the end of the sandbox, or the caller, closes such a connection.
  hang: () => {},
  "hang-after": () => {},
  garbage(outgoing, { status }) {
    outgoing.writeHead(status, json).end(Buffer.from('\u0000{"success": tru\ufffd<html>', "utf8"));
  },
  empty(outgoing) {
    outgoing.writeHead(200, { ...json, "content-length": 0 }).end();
  },
  truncated(outgoing, { status, text }) {
    const bytes = Buffer.from(text);
    outgoing.writeHead(status, { ...json, "content-length": bytes.length });
    outgoing.write(bytes.subarray(0, bytes.length / 2), () => outgoing.socket?.destroySoon());
  },
  async slow(outgoing, { status, text }) {
    const bytes = Buffer.from(text);
    outgoing.writeHead(status, { ...json, "content-length": bytes.length });
    for (const byte of bytes) {
      if (outgoing.destroyed) return;
      outgoing.write(Buffer.of(byte));
      await delay(Math.ceil(1000 / bytes.length), undefined, { ref: false });
    }
    outgoing.end();
  },
  redirect(outgoing) {
    const location = "http://127.0.0.1:1/elsewhere";
    outgoing.writeHead(307, { location, "content-length": 0 }).end();
  },
};

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}
