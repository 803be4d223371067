import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Fault, readFault } from "../../src/api/contract/fault.ts";
import type { SandboxOptions } from "../../src/sandbox/server.ts";
import type { AtEnd } from "../support/helpers.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";
import { toolLine } from "../tool.js";
import { isDoubtful, isStopped, isUnsent, needs } from "./needs.ts";

/** Where an example is run: a merchant of its own, a folder to work in, programs on the PATH. */
export interface Stage {
  line: string;
  folder: string;
  env: Record<string, string>;
  /** True if it runs until it is stopped. */
  isEndless: boolean;
}

/** Prepares everything that an example needs, and puts the real names of it into its line. */
export async function stageFor(example: string, atEnd: AtEnd): Promise<Stage> {
  const service = serviceFor(example);
  const merchant = await openMerchant(service, atEnd);
  const folder = join(merchant.env.LENDEN_CONFIG_DIR ?? "", "work");
  mkdirSync(folder);
  let line = example;
  for (const { when, shown, make } of needs) {
    if (!when.test(line)) continue;
    const made = await make(merchant, folder, atEnd);
    if (shown) line = line.replaceAll(shown, String(made));
  }
  if (service.faults.length > 0) {
    service.faults = [];
    await merchant.close();
    await merchant.comeBack();
  }
  const env = { ...envOf(example, merchant), PATH: programs(merchant, folder) };
  const isServer = /sandbox start|callback listen (?!--poll)/.test(line);
  const isEndless = isServer || /--follow|callback listen --poll$/.test(line);
  return { line: isServer ? onAnyPort(line) : line, folder, env, isEndless };
}

/** Where an example waits for many, the service completes them by itself. */
function serviceFor(example: string): Partial<SandboxOptions> & { faults: Fault[] } {
  const lost = isDoubtful.test(example) ? ["createPayment:lost-reply"] : [];
  const rejected = isStopped.test(example) ? ["createPayout:status-400"] : [];
  const unsent = isUnsent.test(example) ? ["createPayout:reset"] : [];
  return {
    faults: [...lost, ...rejected, ...unsent]
      .map(readFault)
      .flatMap((read) => (read.ok ? [read.value] : [])),
    ...(/(?:batch|payout send) .*--wait/.test(example) ? { autoCompleteMs: 1 } : {}),
  };
}

/** Profiles count only where no variable goes before them. */
function envOf(example: string, { env }: Merchant): Record<string, string> {
  const { LENDEN_BASE_URL: _, LENDEN_API_KEY: __, LENDEN_PAYOUT_SECRET: ___, ...others } = env;
  return /profile /.test(example) ? others : env;
}

/** The usual port may be taken on the machine of whoever runs the tests. */
function onAnyPort(line: string): string {
  return line.includes("--port") ? line : `${line} --port 0`;
}

/** A folder of programs that examples name: lenden itself, and what readers have of their own. */
function programs({ apiKey }: Merchant, folder: string): string {
  const bin = join(folder, "..", "bin");
  mkdirSync(bin);
  const scripts = {
    lenden: `exec ${toolLine} "$@"`,
    npm: "exit 0",
    pass: `echo ${apiKey}`,
  };
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return `${bin}:${process.env.PATH}`;
}
