/** What the service says went wrong, found in a body whose shape is not shown (service.md §7). */
export interface Complaint {
  message?: string;
  code?: string;
}

const messageKeys = [
  "message",
  "error",
  "errors",
  "detail",
  "details",
  "reason",
  "title",
  "msg",
  "description",
  "data",
];
const codeKeys = ["code", "errorCode", "error_code", "type", "error"];
/** Enough to find a message in, and too little to keep a hostile page's reader busy. */
const longest = 4_096;

/** Looks for a message and a code in JSON of any shape, in HTML, or in plain text. */
export function complaintIn(body: unknown, text: string): Complaint {
  const message = body === undefined ? plainText(text.slice(0, longest)) : messageIn(body, 0);
  const code = codeIn(body);
  return { ...(message ? { message: message.slice(0, longest) } : {}), ...(code ? { code } : {}) };
}

function messageIn(value: unknown, depth: number): string | undefined {
  if (depth > 4) return undefined;
  if (typeof value === "string") return value.trim() || undefined;
  if (Array.isArray(value)) {
    const found = value.slice(0, 5).map((one) => messageIn(one, depth + 1));
    return found.filter(Boolean).join("; ") || undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map(Object.entries(value));
  for (const key of messageKeys) {
    const found = messageIn(fields.get(key), depth + 1);
    if (found) return found;
  }
  return depth === 0 ? undefined : fieldProblems(fields);
}

/** `{amount: ["must be positive"]}`, as many validators answer. */
function fieldProblems(fields: Map<string, unknown>): string | undefined {
  const texts = [...fields].slice(0, 5).flatMap(([name, value]) => {
    const found = [value].flat().find(isText)?.trim();
    return found ? [`${name}: ${found}`] : [];
  });
  return texts.join("; ") || undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function codeIn(body: unknown, depth = 0): string | undefined {
  if (depth > 4) return undefined;
  if (typeof body !== "object" || body === null) return undefined;
  const fields = new Map(Object.entries(body));
  for (const key of codeKeys) {
    const value = fields.get(key);
    if (typeof value === "number") return String(value);
    if (typeof value === "string" && /^[\w.:-]{1,64}$/.test(value)) return value;
  }
  return codeIn(fields.get("error"), depth + 1);
}

/** The words of an HTML page or of a plain text; its title where it has one. */
function plainText(text: string): string | undefined {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const words = (
    title ?? text.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ")
  )
    .replace(/\s+/g, " ")
    .trim();
  // What is no text at all would only fill the screen.
  return words.includes("\ufffd") ? undefined : words || undefined;
}
