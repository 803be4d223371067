import { type Actor, actors, stricterOf } from "../domain/actor.ts";
import { usage } from "../domain/failure.ts";

type Env = Record<string, string | undefined>;

/** A variable by which an agent is recognized. */
interface AgentVariable {
  variable: string;
  /** The values that agents set, if others mean something else. */
  values?: readonly string[];
  agent: string;
  /** Who sets it, and where that can be read. */
  because: string;
}

/*
 * Variables that agents set for the commands that they run. Not those of an editor's terminal, in which people type:
 * CURSOR_TRACE_ID, REPL_ID, TERM_PROGRAM, CLAUDE_CODE_SSE_PORT, TRAE_AI_SHELL_ID. Not settings of people:
 * COPILOT_MODEL, COPILOT_ALLOW_ALL, COPILOT_GITHUB_TOKEN, OPENCODE_CLIENT, GOOSE_PROVIDER, AIDER_MODEL.
 */
export const agentVariables: readonly AgentVariable[] = [
  {
    variable: "CLAUDECODE",
    agent: "Claude Code",
    because: "set in subprocesses of Claude Code (code.claude.com/docs/en/env-vars)",
  },
  {
    variable: "GEMINI_CLI",
    agent: "Gemini CLI",
    because: "set by its tool run_shell_command (google-gemini/gemini-cli, docs/tools/shell.md)",
  },
  {
    variable: "QWEN_CODE",
    agent: "Qwen Code",
    because: "set by its shell tool (QwenLM/qwen-code, shellExecutionService.ts)",
  },
  {
    variable: "CODEX_SANDBOX",
    agent: "Codex",
    because: "set for a process in its macOS sandbox (openai/codex, AGENTS.md)",
  },
  {
    variable: "CODEX_SANDBOX_NETWORK_DISABLED",
    agent: "Codex",
    because: "set for its shell tool without network access (openai/codex, AGENTS.md)",
  },
  {
    variable: "CODEX_THREAD_ID",
    agent: "Codex",
    because: "set for its shell commands (openai/codex, codex-rs/core/src/exec_env.rs)",
  },
  {
    variable: "CODEX_CI",
    agent: "Codex",
    because: "set for its shell commands (openai/codex, codex-rs/core/src/unified_exec)",
  },
  {
    variable: "CURSOR_AGENT",
    agent: "Cursor",
    because: "set in shells of its agent (cursor.com/docs/agent/tools/terminal)",
  },
  {
    variable: "COPILOT_CLI",
    agent: "GitHub Copilot CLI",
    because: "set in its subprocesses (Azure/azure-dev, pull request 8249)",
  },
  {
    variable: "COPILOT_AGENT",
    agent: "GitHub Copilot in VS Code",
    because: "set in terminals of its agent (microsoft/vscode, pull request 316267)",
  },
  {
    variable: "VSCODE_AGENT",
    agent: "VS Code's agent",
    because: "set for commands of its agent (release notes of VS Code 1.121)",
  },
  {
    variable: "COPILOT_AGENT_SESSION_ID",
    agent: "GitHub Copilot's cloud agent",
    because: "set in its sessions (watson/is-ci, issue 28)",
  },
  {
    variable: "CLINE_ACTIVE",
    agent: "Cline",
    because: "set in terminals that it opens for commands (cline/cline, discussion 5366)",
  },
  {
    variable: "OPENCODE",
    agent: "opencode",
    because: "set at its start, so that commands inherit it (anomalyco/opencode, index.ts)",
  },
  {
    variable: "GOOSE_TERMINAL",
    agent: "goose",
    because: "set by its shell tool, with AGENT=goose (block/goose, developer extension)",
  },
  {
    variable: "AMP_CURRENT_THREAD_ID",
    agent: "Amp",
    because: "set in the children of its shell tool; checked by phpstan and mise too",
  },
  {
    variable: "AUGMENT_AGENT",
    agent: "Auggie",
    because: "set for its shell commands (Auggie's reference of environment variables)",
  },
  {
    variable: "CRUSH",
    values: ["1"],
    agent: "Crush",
    because: "set by its shell (charmbracelet/crush, internal/shell/shell.go)",
  },
  {
    variable: "PI_CODING_AGENT",
    agent: "pi",
    because: "set at its start, so that commands inherit it (earendil-works/pi, cli.ts)",
  },
  {
    variable: "AGENT",
    values: ["1", "true", "goose", "amp", "crush"],
    agent: "an agent",
    because: "proposed for all agents (agentsmd/agents.md, issue 136); set by goose, Amp and Crush",
  },
  {
    variable: "AI_AGENT",
    agent: "an agent",
    because: "proposed for all agents (vercel/vercel, packages/detect-agent); its value is a name",
  },
];

/** The variable that says who acts. It can only restrict: `person` does not undo what another variable shows. */
const actorVariable = "LENDEN_ACTOR";

/**
 * Why a run is an agent's, as a clause; undefined if it is not.
 *
 * @throws Failure `usage` if LENDEN_ACTOR has another word
 */
export function agentIn(env: Env): string | undefined {
  if (declaredActor(env) === "agent") return `${actorVariable} is agent`;
  const found = agentVariables.find(({ variable, values }) => {
    const value = env[variable];
    return value !== undefined && (values?.includes(value) ?? true);
  });
  return found && `${found.agent} set ${found.variable}`;
}

/**
 * Who acts.
 *
 * @param isInTerminal true if a person can answer
 */
export function actorIn(env: Env, isInTerminal: () => boolean): Actor {
  if (agentIn(env) !== undefined) return "agent";
  const declared = declaredActor(env) ?? "person";
  return stricterOf(declared, isInTerminal() ? "person" : "script");
}

function declaredActor({ [actorVariable]: text }: Env): Actor | undefined {
  const found = actors.find((one) => one === text);
  if (text === undefined || found) return found;
  throw usage([`${actorVariable}: ${JSON.stringify(text)} is not one of: ${actors.join(", ")}.`]);
}
