import { describe, expect, test } from "vitest";
import { actorIn, agentIn, agentVariables } from "../../src/config/agents.ts";
import { Failure } from "../../src/domain/failure.ts";

const inTerminal = () => true;
const noTerminal = () => false;

describe("an agent is recognized by", () => {
  test.each(agentVariables)("$variable", ({ variable, values = ["1"], agent }) => {
    for (const value of values) {
      expect(agentIn({ [variable]: value })).toBe(`${agent} set ${variable}`);
      expect(actorIn({ [variable]: value }, inTerminal)).toBe("agent");
    }
  });

  test("LENDEN_ACTOR", () => {
    expect(agentIn({ LENDEN_ACTOR: "agent" })).toBe("LENDEN_ACTOR is agent");
  });
});

test.each([
  ["Cursor's terminal", { CURSOR_TRACE_ID: "1", TERM_PROGRAM: "vscode" }],
  ["the terminal of an editor with Claude Code", { CLAUDE_CODE_SSE_PORT: "1234" }],
  ["Replit's shell", { REPL_ID: "1" }],
  ["a terminal with settings of agents", { COPILOT_MODEL: "m", GOOSE_PROVIDER: "p" }],
  ["a build agent", { AGENT: "build-7", AGENT_NAME: "build-7" }],
  ["another tool that is called crush", { CRUSH: "/opt/crush" }],
])("a person in %s is no agent", (_, env) => {
  expect(agentIn(env)).toBeUndefined();
  expect(actorIn(env, inTerminal)).toBe("person");
});

test.each([
  [{}, inTerminal, "person"],
  [{}, noTerminal, "script"],
  [{ LENDEN_ACTOR: "person" }, inTerminal, "person"],
  [{ LENDEN_ACTOR: "person" }, noTerminal, "script"],
  [{ LENDEN_ACTOR: "script" }, inTerminal, "script"],
  [{ LENDEN_ACTOR: "script" }, noTerminal, "script"],
  [{ LENDEN_ACTOR: "agent" }, inTerminal, "agent"],
  [{ LENDEN_ACTOR: "person", CLAUDECODE: "1" }, inTerminal, "agent"],
  [{ LENDEN_ACTOR: "script", AI_AGENT: "codex@1" }, noTerminal, "agent"],
] as const)("LENDEN_ACTOR can only restrict: %j", (env, isInTerminal, actor) => {
  expect(actorIn(env, isInTerminal)).toBe(actor);
});

test.each(["Agent", "human", " agent"])("LENDEN_ACTOR=%j is rejected", (text) => {
  expect(() => agentIn({ LENDEN_ACTOR: text })).toThrow(Failure);
  expect(() => agentIn({ LENDEN_ACTOR: text })).toThrow("is not one of: person, script, agent.");
});

test("the runner of the tests removes the variables", () => {
  const found = agentVariables.filter(({ variable }) => process.env[variable] !== undefined);
  expect(found).toEqual([]);
});
