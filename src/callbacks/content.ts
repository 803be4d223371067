import { readIdentifier } from "../domain/identifier.ts";
import { isObject, jsonIn, repeatedKey } from "../domain/json.ts";
import { withoutEnds } from "../domain/result.ts";
import type { Resource } from "../domain/statuses.ts";
import { utf8Text } from "../domain/text.ts";
import { parseUrl } from "../domain/url.ts";
import type { CallbackContent } from "../ledger/callback.ts";

/** The record that a callback names. */
export interface NamedRecord {
  kind: Resource;
  id: string;
}

/** What a callback contains, as far as every reader understands it in the same way. */
export interface Content {
  /** Its query and its body. */
  parts: unknown[];
  /** Undefined if it names no record, or more than one. */
  record: NamedRecord | undefined;
  /** Why it cannot be verified, in one sentence. */
  problem: string | null;
}

/** The API's names of IDs (docs/api.md §2). A refund's record also names its payment. */
const idFields: [string, Resource][] = [
  ["refundrequestid", "refund"],
  ["payoutid", "payout"],
  ["transactionid", "payment"],
];

/** Reads a callback: a JSON object, or a form, and a query. The API documents no other shape. */
export function readContent({ target, headers, body }: CallbackContent): Content {
  const query = new URLSearchParams(queryOf(target));
  const read = readBody(headers, body);
  const parts = [objectsOf(query), ...("values" in read ? read.values : [])];
  const ids = idFields.flatMap(([name, kind]) => idsIn(parts, name).map((id) => ({ kind, id })));
  const [record] = ids;
  const others = ids.filter(({ kind, id }) => {
    const isSame = kind === record?.kind && id === record.id;
    return !isSame && !(record?.kind === "refund" && kind === "payment");
  });
  const problem =
    ("problem" in read ? read.problem : undefined) ??
    (record ? undefined : "The callback contains no transactionId, refundRequestId or payoutId.") ??
    (others.length > 0 ? "The callback names more than one record." : undefined) ??
    (readIdentifier(record?.id ?? "").ok ? null : "The ID in the callback is not valid.");
  return { parts, record: problem === null ? record : undefined, problem };
}

/** Everything after the first question mark, as it is forwarded. */
export function queryOf(target: string): string {
  return /\?(.*)$/s.exec(target)?.[1] ?? "";
}

/** A name without case and punctuation: readers may take `Transaction_ID` for `transactionId`. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

type Body = { values: unknown[] } | { problem: string };

/**
 * Reads a body as its content type says. JSON that is sent as a form, as curl does by default, is read in
 * both ways: a handler's framework may use either.
 */
function readBody(headers: CallbackContent["headers"], body: Uint8Array): Body {
  if (body.byteLength === 0) return { values: [] };
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const text = utf8Text(body)?.trim();
  const isOtherEncoding = encoding !== "identity" || /charset=(?!"?utf-?8)/i.test(type);
  if (text === undefined || isOtherEncoding) return { problem: "The body is not UTF-8 text." };
  const isForm = /x-www-form-urlencoded/i.test(type);
  if ((isForm || !/json/i.test(type)) && /^[^\s={}"]+=[^\s{}"]*$/.test(text))
    return { values: [objectsOf(new URLSearchParams(text))] };
  const json = jsonIn(text)?.value;
  if (!isObject(json)) return { problem: "The body is neither a JSON object nor a form." };
  if (repeatedKey(text) !== undefined)
    return { problem: "The body contains a field twice, so its value is ambiguous." };
  return { values: isForm ? [json, objectsOf(new URLSearchParams(text))] : [json] };
}

/** Each field of a form in an object of its own: all values of a repeated name count. */
function objectsOf(form: URLSearchParams): object[] {
  return [...form].map(([name, value]) => ({ [name]: value }));
}

/** The different values of a field, at the top or in the `data` that the API's responses have. */
function idsIn(parts: unknown[], wanted: string): string[] {
  const fields = parts.flatMap((part) => (Array.isArray(part) ? part : [part])).flatMap(entriesOf);
  const all = [
    ...fields,
    ...fields.filter(([name]) => name === "data").flatMap(([, v]) => entriesOf(v)),
  ];
  return [
    ...new Set(
      all.flatMap(([name, value]) =>
        plainName(name) === wanted && typeof value === "string" ? [value.trim()] : [],
      ),
    ),
  ];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** A callback that a person copied from somewhere: a whole HTTP request, a URL, or a body alone. */
export function readPasted(text: string): CallbackContent {
  const [head, target] = /^[A-Z]+ (\S+) HTTP\/\d(?:\.\d)?\r?\n/.exec(text) ?? [];
  if (head !== undefined && target !== undefined)
    return readRequest(target, text.slice(head.length));
  const trimmed = text.trim();
  if (/^https?:\/\/\S+$/.test(trimmed))
    return { target: withoutHost(trimmed), headers: {}, body: Buffer.of() };
  return { target: "/", headers: {}, body: Buffer.from(trimmed.replace(/^\?/, "")) };
}

function readRequest(target: string, rest: string): CallbackContent {
  const lines = /^(?:.+\r?\n)*/.exec(rest)?.[0] ?? "";
  const headers = [...lines.matchAll(/^([\w-]+):(.*)$/gm)].map(
    ([, name = "", value = ""]) => [name.toLowerCase(), withoutEnds(value, " \t\r")] as const,
  );
  return {
    target: withoutHost(target),
    headers: Object.fromEntries(headers),
    body: Buffer.from(rest.slice(lines.length).replace(/^\r?\n/, "")),
  };
}

/** Without the fragment too: no browser sends it. */
function withoutHost(target: string): string {
  const url = /^https?:/.test(target) ? parseUrl(target) : undefined;
  return url ? url.pathname + url.search : target;
}
