import { isDeepStrictEqual } from "node:util";
import type { Context } from "../../cli/command/define-command.ts";
import type { Profile, SecretSource } from "../../config/profiles.ts";
import { Failure, whyAndHint } from "../../domain/failure.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";
import { isTest } from "../../domain/state.ts";
import { counted } from "../../domain/text.ts";
import { isLocalSandbox, isSameServer } from "../../domain/url.ts";
import type { Batch } from "../../ledger/batch.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Credentials } from "./credentials.ts";
import { shownSecret } from "./profiles.ts";

/** What the key that is stored now leaves behind in the ledger. */
interface Unfinished {
  /** The payouts whose outcome is unknown: another key does not send them again (P25b). */
  payouts: string[];
  batches: string[];
}

/**
 * Called before a new base URL gets a request. A production key and payout secret are sent to another host only if
 * they are given for it: after a wrong URL, its server could use them.
 *
 * @param after what a command gives; an absent secret is the stored one
 * @throws Failure `account.host-differs`; the profile is unchanged
 */
export function requireOwnCredentials(
  name: string,
  before: Profile | undefined,
  after: Pick<Profile, "baseUrl"> & Partial<Credentials>,
): void {
  if (before?.environment !== "production" || isSameServer(before.baseUrl, after.baseUrl)) return;
  const kept = [
    ...(before.apiKey && !after.apiKey ? ["API key"] : []),
    ...(before.payoutSecret && !after.payoutSecret ? ["payout secret"] : []),
  ];
  if (kept.length === 0) return;
  const secret = before.payoutSecret ? " --secret-file <file>" : "";
  throw new Failure(
    "account.host-differs",
    `The production ${kept.join(" and ")} of profile ${name} must be given again for another host, ${new URL(after.baseUrl).host}. The profile is unchanged.`,
    {
      hint: `Run 'lenden profile add ${name} --replace --base-url ${after.baseUrl} --key-file <file>${secret}'.`,
    },
  );
}

/**
 * Names what a new key does not send again, before it replaces the key of a profile. In production that is
 * confirmed.
 *
 * @returns the account that the ledger knows for the earlier key
 * @throws Failure `profile.change-not-confirmed`; the profile is unchanged
 */
export async function confirmNewKey(
  name: string,
  before: Profile,
  { apiKey, baseUrl }: { apiKey: SecretSource | undefined; baseUrl: string },
  context: Context,
): Promise<string | undefined> {
  if (!apiKey || !before.apiKey || isDeepStrictEqual(apiKey, before.apiKey)) return undefined;
  const rows: [string, string][] = [];
  let account: string | undefined;
  try {
    const ledger = await context.ledger.ofProfile(name, before);
    account = (await ledger.isAccountStored()) ? await ledger.account() : undefined;
    const { payouts, batches } = await unfinishedIn(ledger);
    if (payouts.length > 0) rows.push(["Outcome unknown", listed(payouts)]);
    if (batches.length > 0) rows.push(["Open batches", listed(batches)]);
    const isNewAccount = isLocalSandbox({ environment: before.environment, baseUrl });
    warn(name, { payouts, batches }, isNewAccount, context);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    rows.push(["Ledger", "cannot be read"]);
    context.ui.notice(
      `The ledger cannot be read, so open batches and unknown payouts of profile ${name} are not listed. ${whyAndHint(error)}`,
      "profile.ledger-unread",
    );
  }
  if (rows.length > 0 && before.environment === "production")
    await confirmChange(`Replace the API key of profile ${name}`, name, before, rows, context);
  return account;
}

/**
 * In production, asks before a profile loses its ledger or gets another one: duplicates are found only in the
 * ledger that recorded the earlier payouts.
 *
 * @param after undefined if the ledger becomes a file of this machine
 */
export async function confirmOtherLedger(
  name: string,
  before: Profile,
  after: string | undefined,
  context: Context,
): Promise<void> {
  const { ledger, environment } = before;
  if (environment !== "production" || ledger === undefined || isSameLedger(ledger, after)) return;
  const action = after === undefined ? "Remove the ledger of" : "Replace the ledger of";
  const rows: [string, string][] = [
    ["Ledger now", ledger],
    ["Ledger afterwards", after ?? "a file of this machine"],
    ["Effect", "duplicates of its payouts are no longer found"],
  ];
  await confirmChange(`${action} profile ${name}`, name, before, rows, context);
}

/** True for one database, whoever logs in to it. */
function isSameLedger(one: string, other: string | undefined): boolean {
  const [a, b] = [one, other ?? ""].map((text) => readLedgerUrl(text));
  return a?.ok === true && b?.ok === true && a.value.ledger === b.value.ledger;
}

async function confirmChange(
  action: string,
  name: string,
  { environment, apiKey }: Profile,
  rows: [string, string][],
  { ui }: Context,
): Promise<void> {
  const profile = { name, environment, key: shownSecret(apiKey) ?? "none" };
  await ui.confirm({ action, profile, rows });
}

async function unfinishedIn(ledger: Ledger): Promise<Unfinished> {
  const unknown = await ledger.unsettled();
  const payouts = unknown
    .filter((one) => one.kind === "payout" && !isTest(one))
    .map(({ reference, id }) => reference ?? id);
  const batches: string[] = [];
  for (const batch of await ledger.batches.list(mostBatches))
    if (await isOpen(batch, ledger)) batches.push(`${batch.id} (${batch.name})`);
  return { payouts, batches };
}

/** The newest batches; older ones that are still open are rare. */
const mostBatches = 1_000;

async function isOpen(batch: Batch, { batches }: Ledger): Promise<boolean> {
  if (batch.cancelledAt !== null) return false;
  const { rowStatusOf } = await import("../../batches/status.ts");
  const statuses = (await batches.tally(batch)).map(rowStatusOf);
  return statuses.some((status) => status === "unsent" || status === "uncertain");
}

function warn(
  name: string,
  { payouts, batches }: Unfinished,
  isNewAccount: boolean,
  { ui }: Context,
): void {
  const newAccount = "With a local sandbox, a new key is a new account, which";
  const ofPayouts = isNewAccount
    ? `${newAccount} sends the same references again. Run 'lenden ledger resolve ${payouts[0]}' before the change.`
    : `A new key does not send them again. Run 'lenden ledger resolve ${payouts[0]}' before the change. Afterwards, that command only records what the dashboard shows.`;
  const ofBatches = isNewAccount
    ? `${newAccount} sends all rows of the same files again.`
    : "A new key does not send their rows of unknown outcome again.";
  if (payouts.length > 0)
    ui.notice(
      `The outcome of ${counted(payouts.length, "payout")} of profile ${name} is unknown: ${listed(payouts)}. ${ofPayouts}`,
      "profile.payouts-unknown",
    );
  if (batches.length > 0)
    ui.notice(
      `Batches of profile ${name} are open: ${listed(batches)}. ${ofBatches}`,
      "profile.batches-open",
    );
}

const mostListed = 5;

function listed(names: string[]): string {
  const more = names.length - mostListed;
  return names.slice(0, mostListed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
