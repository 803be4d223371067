import { parentPort, workerData } from "node:worker_threads";
import { processHost } from "../host.ts";
import type { Changed } from "../ledger/ledger.ts";
import { openAccountLedger } from "./ledger.ts";
import type { Answered, Asked, WriterStart } from "./writer.ts";

/** The thread that brings a batch's changes to the disk, while the others are on the wire. */

const { path, owner, command }: WriterStart = workerData;
const answer = (answered: Answered): void => parentPort?.postMessage(answered);

// What comes here was scrubbed before: this thread knows no secret.
openAccountLedger(path, { owner, command, host: processHost(), scrub: (text) => text }).then(
  ({ ledger, close }) => {
    parentPort?.on("message", (asked: Asked) => {
      if (asked === "close") {
        close();
        parentPort?.close();
        return;
      }
      answer(attempt(() => ledger.apply(asked)));
    });
  },
  (error) =>
    answer(
      attempt(() => {
        throw error;
      }),
    ),
);

function attempt(work: () => Changed[]): Answered {
  try {
    return { changed: work() };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    return { failed: { message: error instanceof Error ? error.message : String(error), code } };
  }
}
