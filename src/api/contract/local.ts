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
  /** Which try of a callback it was; null for what the sandbox was asked. */
  attempt: z.nullable(z.int()),
  request: z.unknown(),
  answer: z.unknown(),
});
export type RecordedExchange = z.infer<typeof exchange>;

/**
 * What the local sandbox offers beside the service, under `/local`. The real service has none of it.
 */
export const localContract = {
  setStatus: endpoint("POST /local/status", {
    access: "sandbox key",
    repeat: "settles",
    summary: "Move a record of the local sandbox to Completed or Cancelled",
    body: z.strictObject({ kind: z.enum(resources), id: z.string(), status: z.enum(statuses) }),
    data: z.looseObject({ kind: z.string(), id: z.string(), status: z.string() }),
  }),

  listExchanges: endpoint("GET /local/requests/:after", {
    access: "sandbox key",
    repeat: "safe",
    summary:
      "What the local sandbox was asked and answered, and the callbacks it sent, after a number",
    data: z.array(exchange),
  }),
};
