import { isDeepStrictEqual } from "node:util";
import type { Environment } from "../domain/api-keys.ts";
import { Failure, whatHappened, whyAndHint } from "../domain/failure.ts";
import { readLedgerUrl } from "../domain/ledger-url.ts";
import { counted, inCommand } from "../domain/text.ts";
import { isLocalSandbox, isSameServer } from "../domain/url.ts";
import type { Credentials } from "./profile.ts";
import type { Profile, SecretSource } from "./profiles.ts";
import { shownSecret } from "./shown.ts";

/** What a person confirms before a profile of production changes. */
export interface ProfileQuestion {
  action: string;
  profile: { name: string; environment: Environment; key: string };
  rows: [string, string][];
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
 * Tests a key before it is stored.
 *
 * @param test sends a request with the key
 * @param effect what did not happen, as a sentence
 * @param untested how to store the key without this test, as a sentence
 * @throws Failure that says so, unless the API accepts the key
 */
export async function requireAccepted(
  test: () => Promise<void>,
  { effect, untested }: { effect: string; untested: string },
): Promise<void> {
  try {
    await test();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const hint =
      error.kind === "access"
        ? "Copy the key again. Unless the API is a local sandbox, also allow this machine's IP address in the merchant dashboard (Settings → Development Info)."
        : `${error.details.hint ?? ""} ${untested}`.trim();
    throw new Failure(error.reason, `${whatHappened(error)} ${effect}`, { ...error.details, hint });
  }
}

/** What another key does not send again: the payouts of unknown outcome (P25b), and open batches. */
interface Unfinished {
  payouts: string[];
  batches: string[];
}

/** True if a profile gets a key that is not the stored one. */
export function isNewKey(before: Profile, apiKey: SecretSource | undefined): boolean {
  return !!apiKey && !!before.apiKey && !isDeepStrictEqual(apiKey, before.apiKey);
}

/**
 * Names what a new key does not send again, before it replaces the key of a profile.
 *
 * @param unfinished what the ledger knows of the earlier key, or why it cannot be read
 * @returns what is confirmed in production
 */
export function newKeyQuestion(
  name: string,
  before: Profile,
  { baseUrl }: Pick<Profile, "baseUrl">,
  unfinished: Unfinished | Failure,
  notice: (text: string, reason: string) => void,
): ProfileQuestion | undefined {
  const rows: [string, string][] = [];
  if (unfinished instanceof Failure) {
    rows.push(["Ledger", "cannot be read"]);
    notice(
      `The ledger cannot be read, so open batches and unknown payouts of profile ${name} are not listed. ${whyAndHint(unfinished)}`,
      "profile.ledger-unread",
    );
  } else {
    const { payouts, batches } = unfinished;
    if (payouts.length > 0) rows.push(["Outcome unknown", listed(payouts)]);
    if (batches.length > 0) rows.push(["Open batches", listed(batches)]);
    const isNewAccount = isLocalSandbox({ environment: before.environment, baseUrl });
    warn(name, unfinished, isNewAccount, notice);
  }
  if (rows.length === 0 || before.environment !== "production") return undefined;
  return questionOf(`Replace the API key of profile ${name}`, name, before, rows);
}

/**
 * What is confirmed before a profile of production loses its ledger or gets another one: duplicates are found
 * only in the ledger that recorded the earlier payouts.
 *
 * @param after undefined if the ledger becomes a file of this machine
 */
export function otherLedgerQuestion(
  name: string,
  before: Profile,
  after: string | undefined,
): ProfileQuestion | undefined {
  const { ledger, environment } = before;
  if (environment !== "production" || ledger === undefined || isSameLedger(ledger, after))
    return undefined;
  const action = after === undefined ? "Remove the ledger of" : "Replace the ledger of";
  return questionOf(`${action} profile ${name}`, name, before, [
    ["Ledger now", ledger],
    ["Ledger afterwards", after ?? "a file of this machine"],
    ["Effect", "duplicates of its payouts are no longer found"],
  ]);
}

/** What is confirmed before a profile of production is removed. */
export function removalQuestion(name: string, profile: Profile): ProfileQuestion | undefined {
  if (profile.environment !== "production") return undefined;
  return questionOf(`Remove profile ${name}`, name, profile, [["Base URL", profile.baseUrl]]);
}

/** True for one database, whoever logs in to it. */
function isSameLedger(one: string, other: string | undefined): boolean {
  const [a, b] = [one, other ?? ""].map((text) => readLedgerUrl(text));
  return a?.ok === true && b?.ok === true && a.value.ledger === b.value.ledger;
}

function questionOf(
  action: string,
  name: string,
  { environment, apiKey }: Profile,
  rows: [string, string][],
): ProfileQuestion {
  return { action, profile: { name, environment, key: shownSecret(apiKey) ?? "none" }, rows };
}

function warn(
  name: string,
  { payouts, batches }: Unfinished,
  isNewAccount: boolean,
  notice: (text: string, reason: string) => void,
): void {
  const newAccount = "With a local sandbox, a new key is a new account, which";
  const ofPayouts = isNewAccount
    ? `${newAccount} sends the same references again. Run 'lenden ledger resolve ${inCommand(payouts[0] ?? "")}' before the change.`
    : `A new key does not send them again. Run 'lenden ledger resolve ${inCommand(payouts[0] ?? "")}' before the change. Afterwards, that command only records what the dashboard shows.`;
  const ofBatches = isNewAccount
    ? `${newAccount} sends all rows of the same files again.`
    : "A new key does not send their rows of unknown outcome again.";
  if (payouts.length > 0)
    notice(
      `The outcome of ${counted(payouts.length, "payout")} of profile ${name} is unknown: ${listed(payouts)}. ${ofPayouts}`,
      "profile.payouts-unknown",
    );
  if (batches.length > 0)
    notice(
      `Batches of profile ${name} are open: ${listed(batches)}. ${ofBatches}`,
      "profile.batches-open",
    );
}

const mostListed = 5;

function listed(names: string[]): string {
  const more = names.length - mostListed;
  return names.slice(0, mostListed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
