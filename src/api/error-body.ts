import { isObject } from "../domain/json.ts";

/** What the API says went wrong. The shape of its error bodies is not shown (docs/api.md §7). */
export interface ApiError {
  message?: string;
  code?: string;
}

const messageKeys = "message error errors detail details reason title msg description data".split(
  " ",
);
const codeKeys = ["code", "errorCode", "error_code", "type", "error"];
/** Limits the work on a hostile page. */
const longest = 4_096;
const deepest = 4;

/** Finds a message and a code in JSON of any shape, in HTML or in plain text. */
export function apiErrorIn(body: unknown, text: string): ApiError {
  const message = body === undefined ? plainText(text.slice(0, longest)) : messageIn(body, 0);
  const code = codeIn(body, 0);
  return { ...(message ? { message: message.slice(0, longest) } : {}), ...(code ? { code } : {}) };
}

function messageIn(value: unknown, depth: number): string | undefined {
  if (depth > deepest) return undefined;
  if (typeof value === "string") return value.trim() || undefined;
  if (Array.isArray(value)) {
    const found = value.slice(0, 5).map((one) => messageIn(one, depth + 1));
    return found.filter(Boolean).join("; ") || undefined;
  }
  if (!isObject(value)) return undefined;
  for (const key of messageKeys) {
    const found = messageIn(Object.hasOwn(value, key) && value[key], depth + 1);
    if (found) return found;
  }
  return depth === 0 ? undefined : fieldProblems(value);
}

/** `{amount: ["must be positive"]}`, as many validators send it. */
function fieldProblems(fields: Record<string, unknown>): string | undefined {
  const texts = Object.entries(fields)
    .slice(0, 5)
    .flatMap(([name, value]) => {
      const found: unknown = Array.isArray(value)
        ? value.find((one) => typeof one === "string")
        : value;
      return typeof found === "string" && found.trim() ? [`${name}: ${found.trim()}`] : [];
    });
  return texts.join("; ") || undefined;
}

function codeIn(body: unknown, depth: number): string | undefined {
  if (depth > deepest || !isObject(body)) return undefined;
  for (const key of codeKeys.filter((one) => Object.hasOwn(body, one))) {
    const value = body[key];
    if (typeof value === "number") return String(value);
    if (typeof value === "string" && /^[\w.:-]{1,64}$/.test(value)) return value;
  }
  return codeIn(body.error, depth + 1);
}

/** The title of an HTML page, or its text without tags. */
function plainText(text: string): string | undefined {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const withoutTags = text.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
  const words = (title ?? withoutTags).replace(/\s+/g, " ").trim();
  return words.includes("\ufffd") ? undefined : words || undefined; // binary data is not a message
}
