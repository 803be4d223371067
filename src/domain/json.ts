/** Far more than anyone writes. Nested deeper by thousands, a value could be read, and not written again. */
const deepest = 500;

/** The JSON document that a text is; undefined where it is none, or is nested too deep. */
export function jsonIn(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Each level has two brackets.
    const isShallow = text.length <= 2 * deepest || isWithin(deepest, value);
    return isShallow ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isWithin(depth - 1, one));
}

/** True for a JSON object: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A key that an object of this JSON document names twice, also if it is written in two ways: of the two
 * values one reader takes the first and another the last.
 */
export function repeatedKey(json: string): string | undefined {
  // A list has no keys, but its own place among the objects.
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const key = String(JSON.parse(token.slice(0, -colon.length)));
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}

/** A value as text: one that was planted in a ledger may be an object, which need not have one. */
export function scalarText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
