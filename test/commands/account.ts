import { afterAll, beforeAll } from "vitest";
import type { RecordedExchange } from "../../src/api/contract/local.ts";
import {
  type RunningSandbox,
  type SandboxOptions,
  startSandbox,
} from "../../src/sandbox/server.ts";
import { lenden, type Outcome, type RunOptions, scratchFolder } from "../run.ts";

/** A sandbox for the tests of one file, and runs of lenden against it. */
export interface TestAccount {
  /** The sandbox; only inside tests. */
  sandbox(): RunningSandbox;
  env(): Record<string, string>;
  run(line: string[], options?: RunOptions): Promise<Outcome>;
  /** The one id that a line prints with --quiet. */
  id(line: string[]): Promise<string>;
  json(line: string[]): Promise<unknown>;
  /** Method and path of all that the sandbox was asked so far; not the callbacks that it sent. */
  asked(): Promise<string[]>;
}

export function testAccount(options: Partial<SandboxOptions> = {}): TestAccount {
  let running: RunningSandbox | undefined;
  const folder = scratchFolder();
  const sandbox = (): RunningSandbox => {
    if (running) return running;
    throw new Error("the sandbox runs inside tests only");
  };
  const env = () => ({
    LENDEN_BASE_URL: sandbox().baseUrl,
    LENDEN_API_KEY: sandbox().apiKey,
    LENDEN_PAYOUT_SECRET: sandbox().payoutSecret,
    LENDEN_CONFIG_DIR: folder,
  });
  const run = (line: string[], { env: more, ...others }: RunOptions = {}) =>
    lenden(line, { ...others, env: { ...env(), ...more } });
  const succeeded = async (line: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(line);
    if (code !== 0) throw new Error(`${line.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  };
  beforeAll(async () => {
    running = await startSandbox({ now: Date.now, ...options });
  });
  afterAll(() => running?.close());
  return {
    sandbox,
    env,
    run,
    id: async (line) => (await succeeded([...line, "-q"])).trim(),
    json: async (line) => JSON.parse(await succeeded([...line, "--json"])),
    asked: async () => {
      const found = await succeeded(["sandbox", "requests", "-o", "ndjson"]);
      return found
        .split("\n")
        .filter(Boolean)
        .flatMap((line): RecordedExchange[] => [JSON.parse(line)].flat())
        .filter(({ attempt }) => attempt === null)
        .map(({ method, path }) => `${method} ${path.replace("/cp/api/v1", "")}`);
    },
  };
}
