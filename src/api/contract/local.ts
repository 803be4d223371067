import * as z from "zod/mini";
import { resources, statuses } from "../../domain/statuses.ts";
import { endpoint } from "./endpoint.ts";

/** One exchange that the local sandbox saw: a request to it, or a callback that it sent. */
const exchange = z.looseObject({
  number: z.int(),
  at: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.nullable(z.int()),
  fault: z.nullable(z.string()),
  durationMs: z.number(),
  /** The number of the attempt; null for a request to the sandbox. */
  attempt: z.nullable(z.int()),
  request: z.unknown(),
  answer: z.unknown(),
});
export type RecordedExchange = z.infer<typeof exchange>;

/** A payment, payout or refund of the local sandbox. */
const record = z.looseObject({
  number: z.int(),
  kind: z.enum(resources),
  id: z.string(),
  status: z.string(),
  amount: z.number(),
  reference: z.nullable(z.string()),
  updatedAt: z.string(),
});
export type LocalRecord = z.infer<typeof record>;

/** Endpoints under `/local` that only the local sandbox has. */
export const localContract = {
  setStatus: endpoint("POST /local/status", {
    access: "sandbox key",
    repeat: "settles",
    summary: "Move a record of the local sandbox to Completed or Cancelled",
    body: z.strictObject({ kind: z.enum(resources), id: z.string(), status: z.enum(statuses) }),
    data: z.looseObject({ kind: z.string(), id: z.string(), status: z.string() }),
  }),

  listRecords: endpoint("GET /local/records/:after", {
    access: "sandbox key",
    repeat: "safe",
    summary: "List the records of the local sandbox after a number, oldest first",
    data: z.array(record),
  }),

  listExchanges: endpoint("GET /local/requests/:after", {
    access: "sandbox key",
    repeat: "safe",
    summary: "List the requests and callbacks of the local sandbox after a number",
    data: z.array(exchange),
  }),
};
