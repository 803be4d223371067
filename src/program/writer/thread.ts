import { parentPort, workerData } from "node:worker_threads";
import { errorCode } from "../../error-code.ts";
import { Failure } from "../../failure.ts";
import { processHost } from "../../host.ts";
import { createScrubber } from "../../ui/scrub.ts";
import { openAccountLedger } from "../ledger.ts";
import { changesOf, textOfChanged } from "./text.ts";
import type { Answered, WriterStart } from "./writer.ts";

/** The thread that brings a batch's changes to the disk, while the others are on the wire. */

const { path, owner, command, secrets, lock }: WriterStart = workerData;
const { learn, scrub } = createScrubber();
for (const secret of secrets) learn(secret);
const answer = (answered: Answered): void => parentPort?.postMessage(answered);

openAccountLedger(path, { owner, command, host: processHost(), scrub, lock }).then(
  ({ ledger, close }) => {
    let fault: Answered | undefined;
    const commit = (asked: string): Answered => {
      try {
        return { changed: textOfChanged(ledger.apply(changesOf(asked))) };
      } catch (error) {
        return failed(error);
      }
    };
    parentPort?.on("message", (asked: string) => {
      if (asked === "close") {
        close();
        parentPort?.close();
        return;
      }
      // I4: the group after one that failed is on its way already, and must not reach the disk.
      const answered = fault ?? commit(asked);
      if ("failed" in answered) fault = answered;
      answer(answered);
    });
  },
  (error) => answer(failed(error)),
);

function failed(error: unknown): Answered {
  const hint = error instanceof Failure ? error.details.hint : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return { failed: { message, code: errorCode(error), hint } };
}
