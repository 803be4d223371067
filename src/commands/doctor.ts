import { defineCommand } from "../cli/command/define-command.ts";
import type { Finding } from "../doctor/finding.ts";

export const doctor = defineCommand({
  description:
    "Checks Node, directories, ledger, profile and credentials, then makes one request that changes nothing.",
  examples: { "Check the current profile": "lenden doctor" },
  list: true,
  exitCodes: { internal: "a check failed" },

  async *run(_, context): AsyncIterable<Finding> {
    const { checkMachine } = await import("../doctor/machine.ts");
    yield* checkMachine(context);
    const { checkApi } = await import("../doctor/api.ts");
    yield* checkApi(context);
  },
  output: ({ z, text, textOrNull, each }) =>
    z.strictObject({
      ...each(text, "check state message"),
      hint: textOrNull,
      reason: z.optional(text),
    }),
  view: (finding) => ({ kind: "step", id: finding.check, ...finding }),
  ending: ({ state }) => (state === "failed" ? "internal" : undefined),
});
