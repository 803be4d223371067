import type { Finding } from "../../src/doctor/finding.ts";
import { lenden, type Outcome, type RunOptions } from "../support/lenden.ts";

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
  const outcome = await lenden(["doctor", "--json"], { env, ...options });
  const findings: Finding[] = JSON.parse(outcome.stdout);
  return {
    code: outcome.code,
    of: Object.fromEntries(findings.map((one) => [one.check, one])),
    withState: (state) => findings.filter((one) => one.state === state).map(({ check }) => check),
    outcome,
  };
}

export function envOf(baseUrl: string): Record<string, string> {
  return { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: apiKey, LENDEN_PAYOUT_SECRET: "s3cret" };
}
