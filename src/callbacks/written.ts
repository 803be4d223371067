import { parseUrl } from "../contract/url.ts";
import type { Received } from "./said.ts";

/** What a person copied from somewhere: a whole HTTP request, an address, or a body alone. */
export function readWritten(text: string): Pick<Received, "target" | "body"> {
  const [, target] = /^[A-Z]+ (\S+) HTTP\/\d(?:\.\d)?\r?\n/.exec(text) ?? [];
  if (target !== undefined) return { target: withoutHost(target), body: bytes(bodyOf(text)) };
  const trimmed = text.trim();
  if (/^https?:\/\/\S+$/.test(trimmed)) return { target: withoutHost(trimmed), body: bytes("") };
  return { target: "/", body: bytes(trimmed.replace(/^\?/, "")) };
}

function bodyOf(request: string): string {
  const end = /\r?\n\r?\n/.exec(request);
  return end ? request.slice(end.index + end[0].length) : "";
}

function withoutHost(target: string): string {
  const url = /^https?:/.test(target) ? parseUrl(target) : undefined;
  return url ? url.pathname + url.search : target;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
