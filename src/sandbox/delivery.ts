import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Fault, FaultKind } from "../api/contract/fault.ts";
import type { Answer } from "./refusal.ts";

/** Sends an answer whole. */
export function deliver(outgoing: ServerResponse, { status, text }: Answer): void {
  const length = Buffer.byteLength(text);
  outgoing.writeHead(status, { "content-type": "application/json", "content-length": length });
  outgoing.end(text);
}

/** Sends an answer the way a fault wants it spoiled. */
export async function spoil(outgoing: ServerResponse, answer: Answer, fault: Fault): Promise<void> {
  await deliveries[fault.kind](outgoing, answer);
}

/** The status that a caller gets to see; null when it sees none. */
export function visibleStatus(answer: Answer, fault: Fault | undefined): number | null {
  if (!fault) return answer.status;
  if (fault.kind === "empty") return 200;
  if (fault.kind === "redirect") return 307;
  const silent: FaultKind[] = ["reset", "lost-reply", "hang", "hang-after"];
  return silent.includes(fault.kind) ? null : answer.status;
}

const json = { "content-type": "application/json" };

const deliveries: {
  [Kind in FaultKind]: (outgoing: ServerResponse, answer: Answer) => void | Promise<void>;
} = {
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
  slow,
  redirect(outgoing) {
    outgoing.writeHead(307, { location: "http://127.0.0.1:1/elsewhere", "content-length": 0 });
    outgoing.end();
  },
};

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

async function slow(outgoing: ServerResponse, { status, text }: Answer): Promise<void> {
  const bytes = Buffer.from(text);
  outgoing.writeHead(status, { ...json, "content-length": bytes.length });
  const pauseMs = Math.ceil(1000 / bytes.length);
  for (const byte of bytes) {
    if (outgoing.destroyed) return;
    outgoing.write(Buffer.of(byte));
    await delay(pauseMs, undefined, { ref: false });
  }
  outgoing.end();
}
