import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { flag, takes } from "../../cli/command/flag.ts";
import { readAmount } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { type LimitName, limitNames } from "../../domain/limit.ts";
import { formatPaisa } from "../../domain/money.ts";
import { err, mapped, ok, quoted, type Result } from "../../domain/result.ts";
import { type LimitStatus, limitStatuses } from "../../operations/limits.ts";
import { type Limited, limitedOf, limitsOutput, limitsTable, plainLimits } from "./limits.ts";

/** In the order of the help. */
const abouts: Record<LimitName, string> = {
  payout: "Largest payout",
  day: "Payouts of a day",
  "refund-day": "Refunds of a day",
  "new-recipient": "Payouts of a day to a new recipient",
  repeat: "Same amount, same recipient, within a day",
  "agent-payout": "Largest payout or refund of an agent",
  "agent-day": "What agents send in a day",
};

const amountFlag = (name: LimitName) =>
  flag.optional(`--${name} <bdt>`, `${abouts[name]}; "" removes it`, readLimit);

export const limitsSet = defineCommand({
  description:
    "In production, limits hold for all accounts of the ledger together. On PostgreSQL only a member of lenden_owner can set them.",
  examples: {
    "Limit payouts": "lenden limits set --payout 25000 --day 2000000",
    "Let agents send small amounts": "lenden limits set --agent-payout 2000 --agent-day 20000",
    "Remove a limit": 'lenden limits set --new-recipient ""',
  },
  flags: {
    payout: amountFlag("payout"),
    day: amountFlag("day"),
    refundDay: amountFlag("refund-day"),
    newRecipient: amountFlag("new-recipient"),
    repeat: flag.optional(
      "--repeat <rule>",
      `${abouts.repeat} {warn | reject}`,
      takes(["warn", "reject"], readRule),
    ),
    agentPayout: amountFlag("agent-payout"),
    agentDay: amountFlag("agent-day"),
  },
  needsPerson: "only a person changes limits",
  exitCodes: { access: "the login may not set limits, or it was not confirmed" },
  changed: () => true,

  async run(input, context) {
    const given: Record<LimitName, { value: string | null } | undefined> = {
      payout: input.payout,
      day: input.day,
      "refund-day": input.refundDay,
      "new-recipient": input.newRecipient,
      repeat: input.repeat,
      "agent-payout": input.agentPayout,
      "agent-day": input.agentDay,
    };
    const set = limitNames.flatMap((name) => {
      const one = given[name];
      return one ? [{ name, value: one.value }] : [];
    });
    if (set.length === 0)
      throw usage(["No limit is given."], "Example: 'lenden limits set --payout 25000'.");
    const limited = await limitedOf(context);
    const { environment, account } = limited;
    const before = await limitStatuses(limited.ledger);
    await context.ui.confirm({
      action: "Set limits",
      rows: [
        ["Environment", environment],
        ["Account", account || undefined],
        ...set.map(({ name, value }): [string, string] => {
          const now = before.find((one) => one.name === name);
          return [name, `${shown(name, now?.value ?? null)} → ${shown(name, value)}`];
        }),
      ],
      ofAllAccounts: true,
      alwaysAsked: environment === "production",
    });
    const maintenance = await context.ledger.maintenance();
    await maintenance.setLimits(
      { environment, account: await storedAccount(limited, context) },
      set,
    );
    return limitStatuses(limited.ledger);
  },
  output: limitsOutput,
  json: plainLimits,
  view: limitsTable,
});

/** An account that only has a name would be another one as soon as another profile has its key. */
async function storedAccount({ environment, account }: Limited, { config, ledger }: Context) {
  const { apiKey } = await config.recordsOwner();
  if (environment === "production" || apiKey === undefined) return account;
  return (await ledger.own()).limits.storeAccount();
}

function shown(name: LimitName, value: LimitStatus["value"]): string {
  if (name === "repeat") return value ?? "warn";
  return value === null ? "no limit" : formatPaisa(BigInt(value));
}

/** An amount, 0 to send nothing, or an empty text to remove the limit. */
function readLimit(text: string): Result<{ value: string | null }> {
  if (text === "") return ok({ value: null });
  if (text === "0") return ok({ value: "0" });
  return mapped(readAmount(text), (paisa) => ({ value: String(paisa) }));
}

function readRule(text: string): Result<{ value: string | null }> {
  if (text === "") return ok({ value: null });
  return text === "warn" || text === "reject"
    ? ok({ value: text })
    : err(`${quoted(text)} is not one of: warn, reject.`);
}
