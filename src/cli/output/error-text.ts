import type { Failure } from "../../domain/failure.ts";
import { clean, safeJson } from "./terminal-text.ts";

/** A warning about money, as JSON output shows it. */
export interface Warning {
  reason: string;
  message: string;
}

interface ErrorTextOptions {
  asJson: boolean;
  /** True if the command changes something at the API. */
  writes: boolean;
  /** What the run is about, if the failure does not say so. */
  operation?: string | undefined;
  /** Those that no result shows. */
  warnings?: Warning[];
  /** Takes secrets out; before anything is cut, for half a secret would not be found. */
  scrub: (text: string) => string;
  /** Lays a text out in lines; left out, every text is one, as programs expect it. */
  lay?: (text: string) => string[];
}

const longest = 600;

/** A failure as it stands on stderr: what happened, what to do; or one line of JSON. */
export function errorText(
  failure: Failure,
  {
    asJson,
    writes,
    scrub,
    operation: concerned,
    warnings = [],
    lay = (text) => [text],
  }: ErrorTextOptions,
): string {
  const { kind, reason, details } = failure;
  const { status } = details;
  const effect = failure.effect(writes);
  const safe = (text: string): string => clipped(scrub(clean(text)));
  const maybe = (text: string | undefined) => (text === undefined ? undefined : safe(text));
  const [message, hint, code, operation] = [
    safe(asJson ? failure.message : failure.text(writes)),
    maybe(details.hint),
    maybe(details.code),
    maybe(details.operation ?? concerned),
  ];
  const problems = (details.problems ?? []).map(safe);
  const safeWarning = ({ reason, message }: Warning) => ({ reason, message: safe(message) });
  if (asJson) {
    const more = {
      ...(problems.length > 0 ? { problems } : {}),
      ...(warnings.length > 0 ? { warnings: warnings.map(safeWarning) } : {}),
    };
    return `${safeJson({ error: { kind, reason, message, effect, hint, status, code, operation, ...more } })}\n`;
  }
  const said: [string, string][] = [
    ["error: ", message],
    ...problems.map((problem): [string, string] => ["", problem]),
    ...(hint ? [["hint:  ", hint] satisfies [string, string]] : []),
  ];
  const lines = said.flatMap(([head, text]) =>
    lay(text).map((line, at) => (at === 0 ? head : "").padEnd(headColumns) + line),
  );
  return `${lines.join("\n")}\n`;
}

/** Where the texts begin, below each other. */
export const headColumns = 7;

function clipped(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
