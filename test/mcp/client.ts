import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { isObject } from "../../src/domain/json.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, builtEnv } from "../support/lenden.ts";
import { tool } from "../tool.js";

/** Both versions of the protocol; the client of the second asks for the newest. */
export const versions = ["2025-11-25", "2026-07-28"] as const;
type Version = (typeof versions)[number];

/** What a person does when a client asks for the total; undefined for nothing, ever. */
type Person = (asked: { message: string; times: number }) => Answer | undefined;
type Answer = {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean>;
};

interface Options {
  version?: Version;
  args?: string[];
  env?: Record<string, string>;
  /** False if the test itself decides which limits there are. */
  isBounded?: boolean;
  /** The client says that it can ask. */
  person?: Person;
}

/** The result of a call. */
export interface Called {
  data: Record<string, unknown>;
  isError: boolean;
  text: string;
  ms: number;
}

export type Connected = Awaited<ReturnType<typeof connect>>;

/** A client of `lenden mcp`, which runs as a process of its own until the test ends. */
export async function connect(
  { env }: { env: Record<string, string> },
  {
    version = "2026-07-28",
    args = ["--allow-send"],
    env: more = {},
    isBounded = true,
    person,
  }: Options = {},
) {
  if (isBounded && args.includes("--allow-send")) await setHighLimits({ ...env, ...more });
  const [command, ...before] = tool;
  const transport = new StdioClientTransport({
    command,
    args: [...before, "mcp", ...args],
    env: texts(builtEnv({ ...env, ...more })),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (data) => {
    stderr += data;
  });
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: person ? { elicitation: { form: {} } } : {},
      ...(version === "2026-07-28" && { versionNegotiation: { mode: "auto" } }),
    },
  );
  let times = 0;
  if (person)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      times += 1;
      const answer = person({ message: params.message, times });
      return answer ?? new Promise<never>(() => {});
    });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const callOnce = async (name: string, given: Record<string, unknown> = {}): Promise<Called> => {
    const startedMs = performance.now();
    const result = await client.callTool({ name, arguments: given }, { timeout: 120_000 });
    const { structuredContent, isError, content } = result;
    const [first] = content;
    return {
      data: isObject(structuredContent) ? structuredContent : {},
      isError: isError === true,
      text: first?.type === "text" ? first.text : "",
      ms: performance.now() - startedMs,
    };
  };
  return {
    client,
    pid: transport.pid ?? 0,
    stderr: () => stderr,
    /** How often a person was asked. */
    asked: () => times,
    callOnce,
    /** Calls until the answer is not that the work continues, as on a busy machine. */
    call: async (name: string, given: Record<string, unknown> = {}): Promise<Called> => {
      for (;;) {
        const called = await callOnce(name, given);
        if (called.data.next === undefined || called.data.needsPerson === true) return called;
      }
    },
  };
}

/** Without limits for agents, there is no tool that sends. */
async function setHighLimits(env: Record<string, string>): Promise<void> {
  const most = "9000000";
  const line = ["limits", "set", "--agent-payout", most, "--agent-day", most, "--yes"];
  const { code, stderr } = await built(line, { env });
  if (code !== 0) throw new Error(stderr);
}

function texts(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Sends a plan again until no outcome is unknown, as the answers say. */
export async function sendUntilKnown(client: Pick<Connected, "call">, plan: string) {
  for (;;) {
    const called = await client.call("send_plan", { plan });
    const { error } = called.data;
    const isRepeatable =
      isObject(error) && ["uncertain", "unreachable"].includes(String(error.kind));
    if (!isRepeatable) return called;
  }
}

/** So many payouts of different amounts to different numbers. */
export function payouts(count: number): Record<string, string>[] {
  return Array.from({ length: count }, (_, at) => ({
    ref: `INV-${at + 1}`,
    amount: String(100 + at),
    to: `017${String(10_000_000 + at)}`,
    method: "bkash",
  }));
}

/** The ID of the plan of these rows. */
export async function planOf({ call }: Pick<Connected, "call">, rows: object[]): Promise<string> {
  const { data, isError, text } = await call("plan_payouts", { rows });
  if (isError) throw new Error(text);
  return String(data.batch);
}

/** Directories that an agent may use: the usual ones. */
export function usualDirectories() {
  const home = scratchFolder();
  return {
    HOME: home,
    LENDEN_CONFIG_DIR: join(home, ".config/lenden"),
    LENDEN_DATA_DIR: join(home, ".local/share/lenden"),
  };
}
