const tests = ["test/config/agents.test.ts", "test/commands/agents.test.ts"];
const search = ["test/limits/search.test.ts", "-t", "whatever an agent adds to a command"];

/** Bugs of who acts. */
export const agentBugs = [
  {
    name: "agent not recognized: its variable is ignored",
    seam: "agent",
    decorate: (agentIn) => (env) => agentIn({ LENDEN_ACTOR: env.LENDEN_ACTOR }),
    tests,
  },
  {
    name: "agent not recognized: it says that it is a person",
    seam: "agent",
    decorate: (agentIn) => (env) => (env.LENDEN_ACTOR === "person" ? undefined : agentIn(env)),
    tests,
  },
  {
    name: "agent not recognized: LENDEN_ACTOR is ignored",
    seam: "agent",
    decorate:
      (agentIn) =>
      ({ LENDEN_ACTOR: _, ...env }) =>
        agentIn(env),
    tests,
  },
  {
    name: "agent not recognized: a variable names the profile",
    seam: "agent",
    decorate: (agentIn) => (env) => (env.LENDEN_PROFILE === undefined ? agentIn(env) : undefined),
    tests: search,
  },
  {
    name: "agent not recognized: by a ledger without limits",
    seam: "limitDenial",
    decorate: (denialOf) => (limits, sender) => denialOf(limits, { ...sender, isAgent: false }),
    tests: search,
  },
];
