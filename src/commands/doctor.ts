import { defineCommand } from "../cli/command/define-command.ts";
import type { Finding } from "../doctor/finding.ts";

export const doctor = defineCommand({
  name: "doctor",
  summary: "Look for what keeps lenden from working",
  details:
    "From the folders over the profile and the ledger to the network, the service's certificate, the key and the clock. It changes nothing at the service. A check passes, warns, fails, or is skipped where another one failed before it; each says what to do. Exit 1 when one fails.",
  examples: [
    { line: "lenden doctor", says: "for the profile in use" },
    { line: "lenden doctor --profile shop --json", says: "as an array, for a script" },
  ],
  list: true,
  exits: ["internal"],
  async *run(_, context): AsyncIterable<Finding> {
    const { examine } = await import("../doctor/examine.ts");
    yield* examine(context);
  },
  view: ({ check, state, says, todo }) => ({ kind: "step", id: check, check, state, says, todo }),
  ending: ({ state }) => (state === "failed" ? "internal" : undefined),
});
