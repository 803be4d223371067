import { withoutEnds } from "../domain/reading.ts";
import { parseUrl } from "../domain/url.ts";
import type { CallbackContent } from "../ledger/callback.ts";

/** What a person copied from somewhere: a whole HTTP request, an address, or a body alone. */
export function readPasted(text: string): CallbackContent {
  const [head, target] = /^[A-Z]+ (\S+) HTTP\/\d(?:\.\d)?\r?\n/.exec(text) ?? [];
  if (head !== undefined && target !== undefined)
    return readRequest(target, text.slice(head.length));
  const trimmed = text.trim();
  if (/^https?:\/\/\S+$/.test(trimmed))
    return { target: withoutHost(trimmed), headers: {}, body: bytes("") };
  return { target: "/", headers: {}, body: bytes(trimmed.replace(/^\?/, "")) };
}

function readRequest(target: string, rest: string): CallbackContent {
  const lines = /^(?:.+\r?\n)*/.exec(rest)?.[0] ?? "";
  const headers = [...lines.matchAll(/^([\w-]+):(.*)$/gm)];
  return {
    target: withoutHost(target),
    headers: Object.fromEntries(
      headers.map(([, name = "", value = ""]) => [name.toLowerCase(), withoutEnds(value, " \t")]),
    ),
    body: bytes(rest.slice(lines.length).replace(/^\r?\n/, "")),
  };
}

/** Without the fragment too: no browser sends it. */
function withoutHost(target: string): string {
  const url = /^https?:/.test(target) ? parseUrl(target) : undefined;
  return url ? url.pathname + url.search : target;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
