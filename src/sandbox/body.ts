import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import { paisaOf } from "../domain/amount.ts";
import { isObject } from "../domain/json.ts";
import { parseUrl } from "../domain/url.ts";
import { paymentMethods } from "./methods.ts";
import { Refusal } from "./refusal.ts";

export type Fields = Record<string, unknown>;

/** The bytes of a request's body; undefined when they are more than 1 MiB. */
export function readBytes(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and thrown away, so that the caller gets to see the refusal.
      if (size <= largestBody) chunks.push(chunk);
    });
    incoming.on("end", () => resolve(size <= largestBody ? Buffer.concat(chunks) : undefined));
    incoming.on("error", reject);
  });
}

const largestBody = 1024 * 1024;

/** Reads a body strictly against its schema; names all that is wrong with it at once (400). */
export function readFields(
  bytes: Buffer | undefined,
  contentType: string | undefined,
  schema: z.ZodMiniType,
): Fields {
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(contentType ?? "")) {
    const message = "A body needs the header Content-Type: application/json.";
    throw new Refusal(415, "NOT_JSON", message);
  }
  if (!bytes) throw new Refusal(413, "BODY_TOO_LARGE", "The body is larger than 1 MiB.");
  const fields = parseObject(bytes);
  const problems = [...shapeProblems(schema, fields), ...valueProblems(fields)];
  if (problems.length === 0) return fields;
  const rest = problems.length > mostProblems ? ` And ${problems.length - mostProblems} more.` : "";
  throw new Refusal(400, "VALIDATION", problems.slice(0, mostProblems).join(" ") + rest);
}

/** More than any honest body has; a hostile one must not get an answer of megabytes. */
const mostProblems = 30;

/** Undefined where it is no JSON, or no UTF-8. */
export function parseJson(said: Buffer | string): unknown {
  try {
    return JSON.parse(typeof said === "string" ? said : utf8.decode(said));
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parseObject(bytes: Buffer): Fields {
  const value = parseJson(bytes);
  if (isObject(value)) return value;
  throw new Refusal(400, "NOT_JSON", "The body is not a JSON object in UTF-8.");
}

function shapeProblems(schema: z.ZodMiniType, fields: Fields): string[] {
  const parsed = schema.safeParse(fields);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => sentences(issue, fields));
}

function sentences(issue: z.core.$ZodIssue, fields: Fields): string[] {
  const field = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(
      (key) => `${JSON.stringify(key.slice(0, 60))} is not a field of this request.`,
    );
  }
  if (!Object.hasOwn(fields, field)) return [`${field} is required.`];
  if (issue.code === "invalid_value") return [`${field} must be ${issue.values.join(" or ")}.`];
  if (issue.code === "invalid_type") return [`${field} must be of type ${issue.expected}.`];
  return [`${field} is out of range.`];
}

/** What a value must be beside its type. A field means the same wherever it appears. */
const rules: { [field: string]: { holds(value: unknown): boolean; says: string } } = {
  amount: {
    holds: (value) => typeof value !== "number" || isAmount(value),
    says: "must be above zero and below 1000000000000, with at most two decimals",
  },
  merchantRef: { holds: isFilled, says: "must not be empty" },
  recipientNumber: { holds: isFilled, says: "must not be empty" },
  accountNumber: { holds: isFilled, says: "must not be empty" },
  redirect_url: { holds: isWebAddress, says: "must be a web address" },
  callback_url: { holds: isWebAddress, says: "must be a web address" },
  paymentMethodId: {
    holds: (value) =>
      typeof value !== "string" || paymentMethods.some((method) => method.id === value),
    says: "must be the id of one of GET /payment/methods",
  },
};

function valueProblems(fields: Fields): string[] {
  return Object.entries(rules)
    .filter(([field, rule]) => Object.hasOwn(fields, field) && !rule.holds(fields[field]))
    .map(([field, rule]) => `${field} ${rule.says}.`);
}

function isAmount(number: number): boolean {
  const amountPaisa = paisaOf(number);
  return amountPaisa !== undefined && amountPaisa > 0n && amountPaisa < 10n ** 14n;
}

function isFilled(value: unknown): boolean {
  return typeof value !== "string" || value.trim() !== "";
}

function isWebAddress(value: unknown): boolean {
  return typeof value !== "string" || /^https?:$/.test(parseUrl(value)?.protocol ?? "");
}
