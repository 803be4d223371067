import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import { paisaOf } from "../domain/amount.ts";
import { isObject } from "../domain/json.ts";
import { parseUrl } from "../domain/url.ts";
import { Rejection } from "./access.ts";
import { paymentMethods } from "./store.ts";

export type Fields = Record<string, unknown>;

const largestBody = 1024 * 1024;
const mostProblems = 30;

/** The bytes of a body; undefined if there are more than 1 MiB. */
export function readBytes(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and dropped, so that the caller receives the rejection.
      if (size <= largestBody) chunks.push(chunk);
    });
    incoming.on("end", () => resolve(size <= largestBody ? Buffer.concat(chunks) : undefined));
    incoming.on("error", reject);
  });
}

/** Reads a body strictly against its schema; reports its problems together (400). */
export function readFields(
  bytes: Buffer | undefined,
  contentType: string | undefined,
  schema: z.ZodMiniType,
): Fields {
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(contentType ?? "")) {
    const message = "A body needs the header Content-Type: application/json.";
    throw new Rejection(415, "NOT_JSON", message);
  }
  if (!bytes) throw new Rejection(413, "BODY_TOO_LARGE", "The body is larger than 1 MiB.");
  const fields = parseJson(bytes);
  if (!isObject(fields))
    throw new Rejection(400, "NOT_JSON", "The body is not a JSON object in UTF-8.");
  const problems = [...shapeProblems(schema, fields), ...valueProblems(fields)];
  if (problems.length === 0) return fields;
  const rest = problems.length > mostProblems ? ` And ${problems.length - mostProblems} more.` : "";
  throw new Rejection(400, "VALIDATION", problems.slice(0, mostProblems).join(" ") + rest);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Undefined if it is not JSON, or not UTF-8. */
export function parseJson(json: Buffer | string): unknown {
  try {
    return JSON.parse(typeof json === "string" ? json : utf8.decode(json));
  } catch {
    return undefined;
  }
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

type Rule = [holds: (value: unknown) => boolean, problem: string];
const notEmpty: Rule = [
  (value) => value !== "" && !/^\s+$/.test(String(value)),
  "must not be empty",
];
const webUrl: Rule = [
  (value) => typeof value !== "string" || /^https?:$/.test(parseUrl(value)?.protocol ?? ""),
  "must be a web URL",
];

/** Rules besides the type, which the schema has checked. A field means the same in every request. */
const rules: Record<string, Rule> = {
  amount: [
    (value) => typeof value !== "number" || isAmount(value),
    "must be above zero and below 1000000000000, with at most two decimals",
  ],
  merchantRef: notEmpty,
  recipientNumber: notEmpty,
  accountNumber: notEmpty,
  redirect_url: webUrl,
  callback_url: webUrl,
  paymentMethodId: [
    (value) => typeof value !== "string" || paymentMethods.some(({ id }) => id === value),
    "must be the id of one of GET /payment/methods",
  ],
};

function valueProblems(fields: Fields): string[] {
  return Object.entries(rules)
    .filter(([field, [holds]]) => Object.hasOwn(fields, field) && !holds(fields[field]))
    .map(([field, [, problem]]) => `${field} ${problem}.`);
}

function isAmount(number: number): boolean {
  const amountPaisa = paisaOf(number);
  return amountPaisa !== undefined && amountPaisa > 0n && amountPaisa < 10n ** 14n;
}
