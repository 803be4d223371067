import { lookup } from "node:dns/promises";
import { casesNamed } from "../../callbacks/trial/cases.ts";
import type { CaseName } from "../../callbacks/trial/names.ts";
import { tryHandler } from "../../callbacks/trial/trial.ts";
import type { Tried } from "../../callbacks/trial/tried.ts";
import { openWay } from "../../callbacks/trial/way.ts";
import type { Context } from "../../cli/command/context.ts";
import { Failure } from "../../domain/failure.ts";
import { openTrialSandbox } from "./trial-sandbox.ts";

interface Given {
  url: string;
  orders: string | undefined;
  only: CaseName[];
  ownHost: string | undefined;
  answerMs: number;
  settleMs: number;
}

/** Finds the ways, makes the payments, and tries the handler with all that is asked for. */
export async function runTrial(given: Given, context: Context): Promise<Tried[]> {
  const { url, orders, ownHost, answerMs, settleMs } = given;
  const { host, notice, stopping } = context;
  const looking = { ownHost, resolve, limitMs: answerMs };
  const handler = await openWay(url, { ...looking, label: "<url>" });
  const book = orders && (await openWay(orders, { ...looking, label: "--orders" }));
  const sandbox = await openTrialSandbox(context);
  const cases = casesNamed(given.only);
  const payments = cases.length + cases.filter(({ other }) => other).length;
  notice(`No real money moves: it makes ${payments} payments in the local sandbox.`);
  const { deadlineMs } = await context.world();
  const late = timeLimit(deadlineMs - host.now());
  const signal = AbortSignal.any([stopping, late.signal]);
  try {
    return await tryHandler({
      cases,
      handler,
      orders: book || undefined,
      sandbox,
      runName: `test-${Buffer.from(host.randomBytes(4)).toString("hex")}`,
      limits: { answerMs, signal },
      settle: () => host.sleep(settleMs, signal),
    });
  } catch (error) {
    if (late.signal.aborted && !stopping.aborted) throw outOfTime(error);
    throw error;
  } finally {
    late.end();
  }
}

function resolve(name: string): Promise<{ address: string; family: number }[]> {
  return lookup(name, { all: true });
}

/** Only --timeout ends it. By a timer: Node 20 loses an AbortSignal.timeout that only AbortSignal.any holds. */
function timeLimit(ms: number): { signal: AbortSignal; end(): void } {
  const over = new AbortController();
  const timer = Number.isFinite(ms) ? setTimeout(() => over.abort(), Math.max(0, ms)) : undefined;
  return { signal: over.signal, end: () => clearTimeout(timer) };
}

function outOfTime(cause: unknown): Failure {
  return new Failure("unreachable", "The time of --timeout ran out before everything was tried.", {
    hint: "Give it longer, or less to wait for: --answer-within 2s.",
    cause,
  });
}
