import { stopped } from "../stopping.ts";
import { openBook } from "./book.ts";
import type { Case, Expectation, Sending } from "./cases.ts";
import { type Delivered, deliver } from "./deliver.ts";
import type { Limits } from "./exchange.ts";
import { planned, type TestPayments } from "./orders.ts";
import { type JudgingOptions, judged, type Tried, type UnderWay } from "./tried.ts";
import type { Way } from "./way.ts";

/** What the trial needs of the local sandbox. */
export type TrialSandbox = TestPayments & JudgingOptions["sandbox"];

export interface TrialOptions {
  cases: Case[];
  handler: Way;
  /** The way to the merchant's book; without it, most of what matters cannot be seen. */
  orders: Way | undefined;
  sandbox: TrialSandbox;
  /** Begins the names of all orders, and is another one in every run. */
  runName: string;
  limits: Limits;
  /** Waits until a handler has done what it does after its answers. */
  settle(): Promise<void>;
}

/**
 * Tries what a handler of callbacks falls for. Each case has payments of its own, so that all wait
 * together for what the handler does after its answers. What may break it comes last.
 *
 * @throws Failure where the sandbox or the merchant's book cannot be used, or when it is stopped
 */
export async function tryHandler(options: TrialOptions): Promise<Tried[]> {
  const { cases, orders, sandbox, limits } = options;
  const book = orders && openBook(orders, limits);
  const all: UnderWay[] = [];
  for (const one of cases) {
    const plan = await planned(one, { ...options, book, payments: sandbox });
    all.push({ ...one, plan, answers: [], ordinary: [] });
  }
  const claims = all.filter(({ expects }) => !strains.includes(expects));
  await sandbox.retrieved();
  await sendClaims(claims, options);
  const tried = await judged(claims, { book, sandbox });
  const strange = all.filter((one) => !claims.includes(one));
  for (const one of strange) await strain(one, options);
  return [...tried, ...(await judged(strange, { book, sandbox }))];
}

const strains: Expectation[] = ["served", "refused"];

/** All of them, and when it is to be seen what came of them, what follows on some. */
async function sendClaims(claims: UnderWay[], options: TrialOptions): Promise<void> {
  for (const one of claims) one.answers.push(...(await send(one, one.plan.first, options)).answers);
  await settled(options);
  const twice = claims.flatMap((one) => (one.plan.later ? [{ one, later: one.plan.later }] : []));
  for (const { one, later } of twice)
    one.answers.push(...(await send(one, later, options)).answers);
  if (twice.length > 0) await settled(options);
}

/** Something strange, and afterwards an ordinary callback: is somebody still there? */
async function strain(one: UnderWay, options: TrialOptions): Promise<void> {
  const { first } = one.plan;
  const strange = await send(one, first, options);
  await settled(options);
  const after = await send(one, { ...first, manner: "plainly" }, options);
  one.answers.push(...strange.answers);
  one.ordinary.push(...strange.ordinary, ...after.answers);
}

async function send(
  { plan }: UnderWay,
  sending: Sending,
  { handler, limits }: TrialOptions,
): Promise<Delivered> {
  const delivered = await deliver({ ...sending, order: plan.claimed.name }, handler, limits);
  if (limits.signal.aborted) throw stopped();
  return delivered;
}

async function settled({ settle, limits }: TrialOptions): Promise<void> {
  await settle();
  if (limits.signal.aborted) throw stopped();
}
