import type { Row } from "../../sqlite/database.ts";
import { holderIn, reader } from "../sqlite/operation-rows.ts";
import type { Worker } from "../worker.ts";
import type { StoredCallback } from "./callback.ts";

/** A row of the table `callbacks`; whether its holder still lives is asked now. */
export function callbackOf(row: Row, worker: Pick<Worker, "isAlive">): StoredCallback {
  const { text, maybe } = reader(row);
  const holder = holderIn(row);
  const to = maybe("forwarded_to");
  const status = row.forwarded_status;
  return {
    number: Number(row.number),
    source: text("source") === "polled" ? "polled" : "received",
    receivedAt: text("received_at"),
    count: Number(row.count),
    method: text("method"),
    target: text("target"),
    headers: JSON.parse(text("headers")),
    body: Buffer.from(text("body"), "base64"),
    judged: row.verdict
      ? {
          verdict: text("verdict"),
          because: maybe("because"),
          records: JSON.parse(text("records")),
          finding: text("finding"),
        }
      : null,
    looks: Number(row.looks),
    dueAt: maybe("due_at"),
    forwarded:
      to === null
        ? null
        : {
            to,
            status: status === null ? null : Number(status),
            finding: maybe("forwarded_finding"),
          },
    isHeld: holder !== null && worker.isAlive(holder),
  };
}
