/** A path as any server could read it. */
export interface PlainPath {
  /** Decoded until nothing changes, its dot segments resolved, without query and parameters, in lower case. */
  plain: string;
  /** The same, but with its query and the case of its letters. */
  decoded: string;
  /** True if servers may read it in different ways: one may decode or resolve what another does not. */
  isAmbiguous: boolean;
}

/** More than any honest path has; what still changes then is ambiguous. */
const mostDecodings = 8;

/** Reads a raw path, so that no way to write it hides what it creates. */
export function plainPath(path: string): PlainPath {
  const [raw = ""] = path.split(/[?#]/);
  const once = decoded(raw);
  const [before = ""] = fullyDecoded(raw)
    .normalize("NFKC")
    .replace(/\p{Cc}/gu, "")
    .split(/[?#]/);
  const segments = resolved(before.split(/[/\\]/).map(withoutParameters));
  const isOddlyWritten = segmentsOf(once) !== segmentsOf(raw) || isOdd(once) || !isWellFormed(raw);
  return {
    plain: `/${segments.join("/")}`.toLowerCase(),
    decoded: fullyDecoded(path),
    isAmbiguous: decoded(once) !== once || isOddlyWritten,
  };
}

function fullyDecoded(text: string): string {
  let found = text;
  for (let times = 0; times < mostDecodings; times += 1) {
    const next = decoded(found);
    if (next === found) break;
    found = next;
  }
  return found;
}

/** Never fails: what is not UTF-8 is decoded byte by byte. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}

function isWellFormed(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

function segmentsOf(text: string): number {
  return text.split("/").length;
}

/** What one server resolves and another takes for a part of a name. */
function isOdd(text: string): boolean {
  return (
    /[\\?#]|\/\/|\p{Cc}/u.test(text) ||
    text.split("/").some((segment) => [".", ".."].includes(withoutParameters(segment)))
  );
}

function withoutParameters(segment: string): string {
  return (segment.split(";")[0] ?? "").trim();
}

function resolved(segments: string[]): string[] {
  const found: string[] = [];
  for (const segment of segments) {
    if (segment === "..") found.pop();
    else if (segment !== "" && segment !== ".") found.push(segment);
  }
  return found;
}
