import { defineCommand } from "../cli/command/define-command.ts";
import type { Finding } from "../doctor/finding.ts";

export const doctor = defineCommand({
  description:
    "Checks Node, directories, ledger, profile and credentials on this machine, then makes one request that changes nothing. If the request fails, the hint depends on the reason. Exit 1 if a check fails.",
  examples: [
    { comment: "Check the profile in use", command: "lenden doctor" },
    { comment: "Print an array, for a script", command: "lenden doctor --profile shop --json" },
  ],
  list: true,

  async *run(_, context): AsyncIterable<Finding> {
    const { checkMachine } = await import("../doctor/machine.ts");
    yield* checkMachine(context);
    const { checkAccount } = await import("../doctor/account.ts");
    yield* checkAccount(context);
  },
  view: ({ check, state, message, hint }) => ({
    kind: "step",
    id: check,
    check,
    state,
    says: message,
    todo: hint,
  }),
  ending: ({ state }) => (state === "failed" ? "internal" : undefined),
});
