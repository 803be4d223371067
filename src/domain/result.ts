/** The value of a text, or one sentence about what is wrong with it. */
export type Result<Value> = { ok: true; value: Value } | { ok: false; problem: string };

export function ok<Value>(value: Value): Result<Value> {
  return { ok: true, value };
}

export function err(problem: string): Result<never> {
  return { ok: false, problem };
}

/**
 * A typed value as an error shows it. It is not shortened here: secrets are removed from an error as a whole,
 * and half a secret would not be found.
 */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

export function problemOf(result: Result<unknown>): string | undefined {
  return result.ok ? undefined : result.problem;
}

/**
 * The text without these ASCII characters at its ends. A pattern such as `/ +$/` takes quadratic time on
 * a long run of them in the middle.
 */
export function withoutEnds(text: string, characters: string): string {
  let [from, to] = [0, text.length];
  while (from < to && characters.includes(text.charAt(from))) from += 1;
  while (to > from && characters.includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** Digits of other scripts (Bengali, full-width, …) as ASCII; `\d` and NFKC both miss Bengali ones. */
export function asciiDigits(text: string): string {
  return text.replace(/[^0-9\P{Nd}]/gu, (digit) => String(digitValue(digit)));
}

/** Unicode lays each script's ten digits side by side, zero first. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}

export function mapped<From, To>(result: Result<From>, change: (value: From) => To): Result<To> {
  return result.ok ? ok(change(result.value)) : result;
}
