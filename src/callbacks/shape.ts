import { jsonIn } from "../domain/json.ts";
import type { CallbackContent } from "../ledger/callback.ts";

/**
 * What a body is. `unclear`: why another reader may see something else in it, as the beginning of a
 * sentence.
 */
export interface Shape {
  kind: "nothing" | "json" | "form" | "words";
  text: string;
  unclear: string | undefined;
}

/**
 * All readers agree about JSON and forms. They may not agree about anything else, nor about a body with
 * the wrong content type.
 */
export function shapeOf({ headers, body }: Pick<CallbackContent, "headers" | "body">): Shape {
  const text = new TextDecoder().decode(body).trim();
  if (text === "") return { kind: "nothing", text, unclear: undefined };
  const kind = jsonIn(text) ? "json" : isForm(text) ? "form" : "words";
  return { kind, text, unclear: whyUnclear(kind, { headers, body }) };
}

/** Names and values in the usual encoding. Of anything else, readers make different things. */
export function isForm(text: string): boolean {
  return isEncoded(text) && text.split("&").every((pair) => /^[^=]+=/.test(pair));
}

/** The same after a question mark, where a name may stand without a value. */
export function isQuery(text: string): boolean {
  return isEncoded(text) && text.split("&").every((pair) => !pair.startsWith("="));
}

function isEncoded(text: string): boolean {
  return /^(?:[\w.~!*'()[\]:@/?$,+=&-]|%[0-9A-Fa-f]{2}|\P{ASCII})*$/u.test(text) && isUtf8(text);
}

/** Whether what the percent signs encode is UTF-8. */
function isUtf8(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

function whyUnclear(
  kind: Shape["kind"],
  { headers, body }: Pick<CallbackContent, "headers" | "body">,
): string | undefined {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";");
  const encoding = headers["content-encoding"] ?? "identity";
  const isOtherCharset = (one: string) => /charset/.test(one) && !/^charset="?utf-?8"?$/.test(one);
  if (kind === "words") return "It is neither JSON nor a form";
  if (!fits(type.trim(), kind)) return "Its content type does not fit its content";
  if (encoding.toLowerCase() !== "identity") return "It is said to be compressed";
  if (!isWhole(body) || parameters.some((one) => isOtherCharset(one.trim())))
    return "It is not UTF-8";
  return undefined;
}

/** Where no type is given, or one that says nothing, a reader looks at the body itself. */
function fits(type: string, kind: Shape["kind"]): boolean {
  if (["", "text/plain", "application/octet-stream"].includes(type)) return true;
  if (type === "application/x-www-form-urlencoded") return kind === "form";
  return kind === "json" && /^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(type);
}

function isWhole(body: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body);
    return true;
  } catch {
    return false;
  }
}
