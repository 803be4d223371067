import { parentPort, workerData } from "node:worker_threads";
import { errorCode } from "../../error-code.ts";
import { processHost } from "../../host.ts";
import { createScrubber } from "../../ui/scrub.ts";
import { openAccountLedger } from "../ledger.ts";
import { changesOf, textOfChanged } from "./text.ts";
import type { Answered, WriterStart } from "./writer.ts";

/** The thread that brings a batch's changes to the disk, while the others are on the wire. */

const { path, owner, command, secrets }: WriterStart = workerData;
const { learn, scrub } = createScrubber();
for (const secret of secrets) learn(secret);
const answer = (answered: Answered): void => parentPort?.postMessage(answered);

openAccountLedger(path, { owner, command, host: processHost(), scrub }).then(
  ({ ledger, close }) => {
    parentPort?.on("message", (asked: string) => {
      if (asked === "close") {
        close();
        parentPort?.close();
        return;
      }
      try {
        answer({ changed: textOfChanged(ledger.apply(changesOf(asked))) });
      } catch (error) {
        answer(failed(error));
      }
    });
  },
  (error) => answer(failed(error)),
);

function failed(error: unknown): Answered {
  const message = error instanceof Error ? error.message : String(error);
  return { failed: { message, code: errorCode(error) } };
}
