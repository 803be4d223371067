import type { Context } from "../../cli/command/define-command.ts";
import type { Schemas } from "../../cli/output/json-schema.ts";
import { money, table, text, time, type View } from "../../cli/output/view.ts";
import { decimalText } from "../../domain/amount.ts";
import type { Environment } from "../../domain/api-keys.ts";
import { usage } from "../../domain/failure.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { LimitStatus } from "../../operations/limits.ts";

/** Whose limits a command shows or sets: in production those of the environment, else those of an account. */
export interface Limited {
  environment: Environment;
  account: string;
  ledger: Ledger;
}

/** @throws Failure `usage.invalid` if nothing names the environment, or in a sandbox the account */
export async function limitedOf({ config, ledger: access }: Context): Promise<Limited> {
  const { environment } = await config.recordsOwner();
  if (environment === undefined)
    throw usage(
      ["The environment is unknown, and limits are for one environment."],
      "Add '--profile <name>', or set LENDEN_API_KEY.",
    );
  const ledger = await access.records();
  if (environment === "production") return { environment, account: "", ledger };
  if (ledger.hasAllAccounts)
    throw usage(
      ["The account is unknown, and in a sandbox limits are for one account."],
      "Set LENDEN_API_KEY or LENDEN_ACCOUNT.",
    );
  return { environment, account: await ledger.account(), ledger };
}

export function limitsOutput({ z, text, textOrNull, amountOrNull }: Schemas) {
  return z.array(
    z.strictObject({
      name: text,
      value: textOrNull,
      used: amountOrNull,
      left: amountOrNull,
      freesAt: textOrNull,
      changedAt: textOrNull,
      changedBy: textOrNull,
    }),
  );
}

export function plainLimits(limits: LimitStatus[]) {
  return limits.map((one) => {
    const { name, usedPaisa, freesAt, changed } = one;
    const left = leftOf(one);
    return {
      name,
      value: shownValue(one),
      used: usedPaisa === null ? null : decimalText(usedPaisa),
      left: left === null ? null : decimalText(left),
      freesAt,
      changedAt: changed?.at ?? null,
      changedBy: changed?.login ?? null,
    };
  });
}

function shownValue({ name, value }: LimitStatus): string | null {
  return value === null || name === "repeat" ? value : decimalText(BigInt(value));
}

function leftOf({ value, usedPaisa }: LimitStatus): bigint | null {
  if (value === null || usedPaisa === null) return null;
  const left = BigInt(value) - usedPaisa;
  return left > 0n ? left : 0n;
}

export function limitsTable(limits: LimitStatus[]): View {
  return table(limits, {
    id: ({ name }) => name,
    empty: "",
    columns: {
      name: ["LIMIT", ({ name }) => text(name)],
      value: [
        "AT MOST",
        (one) => (one.name === "repeat" ? text(one.value ?? "warn") : paisa(one.value)),
      ],
      used: ["USED", ({ usedPaisa }) => money(usedPaisa)],
      left: ["LEFT", (one) => money(leftOf(one))],
      freesAt: ["MORE FREE FROM", ({ freesAt }) => time(freesAt)],
      changedAt: ["CHANGED", ({ changed }) => time(changed?.at)],
      changedBy: ["BY", ({ changed }) => text(changed?.login)],
    },
  });
}

function paisa(value: string | null) {
  return money(value === null ? null : BigInt(value));
}
