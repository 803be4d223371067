import { amountText, decimalText, type Paisa } from "../domain/amount.ts";
import { Failure, type Reason } from "../domain/failure.ts";
import { type AmountLimit, limitNames } from "../domain/limit.ts";
import { formatTime } from "../domain/local-time.ts";
import { readRecipient } from "../domain/mobile.ts";
import { formatPaisa } from "../domain/money.ts";
import { isGeneratedReference } from "../domain/reference.ts";
import { isFree } from "../domain/state.ts";
import { counted, firstOf, inCommand } from "../domain/text.ts";
import type { ClaimAnswer } from "../ledger/change.ts";
import { type ClaimDecision, mayHavePaid, repeatedSince } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  counts,
  type Denial,
  denialOf,
  type Excess,
  endOf,
  freesAt,
  isDenial,
  type LimitChange,
  type LimitedRow,
  limitsAfter,
  type RepeatingRows,
  sumLimits,
  type Use,
  usedBy,
} from "../ledger/limits.ts";
import type { FoundOperation } from "../ledger/operation.ts";
import type { PayoutOrder } from "./payout/order.ts";

/** What a limit bounds, as messages call it. */
const bounded: Record<AmountLimit, string> = {
  payout: "one payout",
  "agent-payout": "one payout or refund of an agent",
  day: "the payouts of a day",
  "agent-day": "what agents send in a day",
  "refund-day": "the refunds of a day",
  "new-recipient": "what a new recipient gets in a day",
};

const reasonOf = (limit: AmountLimit): Reason => `limits.${limit}`;

/** Why limits do not let a payout, a refund or a file be sent. */
export function deniedFailure(denial: Denial | RepeatingRows): Failure {
  if (denial.kind === "above-limit") return aboveLimit(denial.excess);
  if (denial.kind === "repeating-rows") return repeatsFailure(denial.lines, denial);
  if (denial.kind === "limits-missing")
    return new Failure(
      "limits.missing",
      "This production profile had limits, and its ledger has none.",
      {
        hint: "Check that the profile names the right ledger with 'lenden profile show'. To set the limits of this ledger, run 'lenden limits set --day <bdt>'.",
      },
    );
  if (denial.kind === "not-of-agent")
    return new Failure(
      "agent.needs-person",
      `An agent sends only what it planned with its own login, and batch ${denial.batch} was planned by a person or another login.`,
      { hint: `A person runs 'lenden payout batch send ${denial.batch}'.` },
    );
  if (denial.kind === "planned-ahead") {
    const { batch, createdAt } = denial;
    return new Failure(
      "clock.differs",
      `Batch ${batch} was planned by a clock that was ahead (${formatTime(createdAt)}), so the limits judged another day.`,
      {
        hint: `Check this machine's clock. If it is right, run 'lenden payout batch cancel ${batch}', and send its unsent rows as a new file.`,
      },
    );
  }
  return withoutLimits("An agent sends nothing in production without limits for agents.");
}

function withoutLimits(message: string): Failure {
  return new Failure("agent.needs-person", message, {
    hint: "A person sets them with 'lenden limits set --agent-payout <bdt> --agent-day <bdt>'.",
  });
}

/** Why agents cannot send what they planned, whatever it is; undefined if there is no reason. */
export async function whyNotByAgent({
  limits,
}: Pick<Ledger, "limits">): Promise<Failure | undefined> {
  const sender = { isAgent: true, isProduction: true, expectsLimits: false };
  const denial = denialOf(limitsAfter(await limits.changes()), sender);
  return denial && withoutLimits("No plan is sent without limits for agents.");
}

/** Why limits do not let a payout be claimed; undefined if they do. */
export function deniedBy(
  claim: ClaimAnswer | ClaimDecision,
  order: PayoutOrder,
): Failure | undefined {
  if (claim.kind === "repeat") return repeatFailure(claim, order);
  return isDenial(claim) ? deniedFailure(claim) : undefined;
}

function aboveLimit(excess: Excess): Failure {
  const { limit, allowedPaisa, usedPaisa, askedPaisa, batches, rows = [] } = excess;
  const leftPaisa = usedPaisa === null ? null : allowedPaisa - usedPaisa;
  const freesAt = excess.freesAt;
  const most = `the limit of ${formatPaisa(allowedPaisa)} for ${bounded[limit]}`;
  return new Failure(
    reasonOf(limit),
    leftPaisa === null || leftPaisa === allowedPaisa
      ? `${formatPaisa(askedPaisa)} is above ${most}.`
      : `${formatPaisa(askedPaisa)} is more than what is left of ${most}: ${formatPaisa(leftPaisa > 0n ? leftPaisa : 0n)}.`,
    {
      problems: [...firstOf(rows.map(rowText)), ...firstOf(batches.map(reservedBy))],
      hint: [
        freesAt === null ? "" : `Enough of it is free from ${formatTime(freesAt)}.`,
        ...batches
          .slice(0, 1)
          .map(({ batch }) => `To free what a batch reserves, run '${cancelCommand(batch)}'.`),
        `To raise the limit, a person runs 'lenden limits set --${limit} ${amountText((usedPaisa ?? 0n) + askedPaisa)}'.`,
      ]
        .filter(Boolean)
        .join(" "),
      reached: {
        limit: decimalText(allowedPaisa),
        used: usedPaisa === null ? null : decimalText(usedPaisa),
        left: leftPaisa === null ? null : decimalText(leftPaisa > 0n ? leftPaisa : 0n),
        freesAt,
      },
    },
  );
}

/** In production a batch can be of another account. What was planned without a profile has no name for it. */
function cancelCommand(batch: Use["batch"]): string {
  const { id = "", profile = "" } = batch ?? {};
  const isNamed = profile !== "" && !profile.includes(" ");
  return `lenden payout batch cancel ${id}${isNamed ? ` --profile ${inCommand(profile)}` : ""}`;
}

function rowText({ line, recipient, paisa }: LimitedRow): string {
  return `line ${line}: ${formatPaisa(paisa)} to ${recipient}`;
}

function reservedBy({ batch, paisa }: Excess["batches"][number]): string {
  return `batch ${batch?.id} of ${formatTime(batch?.createdAt ?? "")} reserves ${formatPaisa(paisa)}`;
}

/**
 * Why the same amount to the same recipient is not sent again.
 *
 * @param order what was to be sent; `isRecorded`: true if the ledger has its reference
 */
export function repeatFailure(
  { earlier, isOfAgents }: { earlier: FoundOperation; isOfAgents: boolean },
  order: PayoutOrder,
  isRecorded = false,
): Failure {
  const { reference, id, openedAt, reportedAt, others } = earlier;
  const name = reference ?? id;
  const isReported = !mayHavePaid(earlier);
  const since = repeatedSince(earlier);
  const freesAt = since === undefined ? null : endOf(since);
  return new Failure(
    "limits.repeat",
    `The same amount to this recipient was sent as ${name} on ${formatTime(openedAt)}, and no payout is repeated within a day.`,
    {
      hint: [
        freesAt === null ? "" : `It can be sent from ${formatTime(freesAt)}.`,
        `To see the earlier one, run 'lenden ledger show ${id}'.`,
        isReported && reportedAt === undefined && others
          ? `Login ${others.login} recorded another outcome of it, which limits trust after a day.`
          : "",
        isReported && isFree(earlier)
          ? `A person reported its outcome, which limits trust after a day. To send that payout again, set --ref ${inCommand(name)}.`
          : "",
        isOfAgents
          ? `To send a second payout, a person runs '${commandOf(order, isRecorded)}' in their own terminal.`
          : allowRepeats,
      ]
        .filter(Boolean)
        .join(" "),
      operation: name,
      reached: { limit: "reject", used: null, left: null, freesAt },
    },
  );
}

/** Not those of agents. */
export const allowRepeats =
  "To allow repeats of people and scripts, a person runs 'lenden limits set --repeat warn'.";

/** How the rows of a file are sent that repeat other rows or payouts, if a person intends it. */
export async function adviceOnRepeats({ limits }: Pick<Ledger, "limits">): Promise<string> {
  return limitsAfter(await limits.changes()).rejectsRepeats
    ? `A limit rejects repeats. ${allowRepeats} Then add --allow-duplicates.`
    : "If the repeats are intended, add --allow-duplicates.";
}

/** The command that sends a payout although it repeats another one. @param isRecorded as for `repeatFailure` */
export function commandOf(order: PayoutOrder, isRecorded: boolean): string {
  const { amountPaisa, reference, recipientNumber, recipientName, description } = order;
  const flags = {
    "--amount": amountText(amountPaisa),
    "--to": recipientNumber,
    ...(order.methodName === undefined
      ? { "--method-id": order.paymentMethodId }
      : { "--method": order.methodName }),
    // One that lenden made is that of this attempt, unless the ledger has it: another one could pay twice.
    ...(isGeneratedReference(reference) && !isRecorded ? {} : { "--ref": reference }),
    "--name": recipientName,
    "--description": description,
  };
  const words = Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, inCommand(value)],
  );
  const isOther = !readRecipient(recipientNumber, true).ok;
  const asIs = isOther ? ["--account-number-as-is"] : [];
  return ["lenden payout send", ...words, ...asIs, "--again"].join(" ");
}

/**
 * Why a file is not sent that repeats other payouts, or has rows that repeat each other.
 *
 * @param how `batch`: the ID of the batch that it is already; `isLasting`: true if the rows cannot be sent later either
 */
export function repeatsFailure(
  repeating: number[],
  how: { isOfAgents?: boolean; batch?: string; isLasting?: boolean } = {},
): Failure {
  const { isOfAgents = false, batch, isLasting = false } = how;
  const lines = [...new Set(repeating)].sort((a, b) => a - b);
  return new Failure(
    "limits.repeat",
    `${counted(lines.length, "row")} of the file ${lines.length === 1 ? "repeats" : "repeat"} a payout of the same amount to the same recipient, and no payout is repeated within a day.`,
    {
      problems: firstOf(lines.map((line) => `line ${line}`)),
      hint: `${batch === undefined ? "Remove these rows from the file." : withoutRows(batch, isLasting)} ${isOfAgents ? "A person can send them." : allowRepeats}`,
      reached: { limit: "reject", used: null, left: null, freesAt: null },
    },
  );
}

/** The file of a batch cannot be changed. */
function withoutRows(batch: string, isLasting: boolean): string {
  const cancel = `un 'lenden payout batch cancel ${batch}', and send the other unsent rows as a new file.`;
  return isLasting ? `R${cancel}` : `Run the same command again a day later, or r${cancel}`;
}

/** A limit with what is used of it. */
export interface LimitStatus extends Omit<LimitChange, "at" | "login"> {
  /** Null for a limit of one operation, and for one that is used for each recipient separately. */
  usedPaisa: Paisa | null;
  /** When more is free than now, ISO 8601; null if nothing is used that ends by itself. */
  freesAt: string | null;
  /** By whom it was changed last, and when; null if it was never set. */
  changed: Pick<LimitChange, "at" | "login"> | null;
}

/** All limits, also those that are not set. */
export async function limitStatuses({ limits }: Pick<Ledger, "limits">): Promise<LimitStatus[]> {
  const changes = await limits.changes();
  const uses = await limits.uses();
  const used = usedBy(uses, undefined);
  return limitNames.map((name) => {
    const changed = changes.findLast((one) => one.name === name);
    const limit = sumLimits.find((one) => one === name && one !== "new-recipient");
    const counted = limit ? uses.filter((use) => counts(limit, use, undefined)) : [];
    return {
      name,
      value: changed?.value ?? null,
      usedPaisa: (limit && used[limit]) ?? null,
      freesAt: freesAt(counted, 1n),
      changed: changed ? { at: changed.at, login: changed.login } : null,
    };
  });
}
