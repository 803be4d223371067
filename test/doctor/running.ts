import type { Finding } from "../../src/doctor/finding.ts";
import { built, lenden, type Outcome, type RunOptions } from "../support/lenden.ts";

export const apiKey = "sk_sandbox_AbC-0123456789ab-XyZ";

/** The findings of `lenden doctor`, by the names of their checks. */
export interface Examined {
  code: number;
  of: Record<string, Finding>;
  /** The checks with this state, in order. */
  withState(state: Finding["state"]): string[];
  outcome: Outcome;
}

export async function doctor(
  env: Record<string, string | undefined> = {},
  options: Omit<RunOptions, "env"> = {},
): Promise<Examined> {
  return examined(await lenden(["doctor", "--json"], { env, ...options }));
}

/** A separate process: Node reads NODE_EXTRA_CA_CERTS once, when it starts. */
export async function builtDoctor(env: Record<string, string | undefined>): Promise<Examined> {
  return examined(await built(["doctor", "--json"], { env }));
}

export function envOf(baseUrl: string): Record<string, string> {
  return { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: apiKey, LENDEN_PAYOUT_SECRET: "s3cret" };
}

function examined(outcome: Outcome): Examined {
  const findings: Finding[] = JSON.parse(outcome.stdout);
  return {
    code: outcome.code,
    of: Object.fromEntries(findings.map((one) => [one.check, one])),
    withState: (state) => findings.filter((one) => one.state === state).map(({ check }) => check),
    outcome,
  };
}
