import type { Context } from "../../cli/command/define-command.ts";
import { isNewKey, newKeyQuestion, otherLedgerQuestion } from "../../config/key-change.ts";
import type { GivenProfile } from "../../config/profile.ts";
import { findProfile, type Profile } from "../../config/profiles.ts";
import { accountAfter, type ProfileStore, storeProfile } from "../../config/store-profile.ts";
import { Failure } from "../../domain/failure.ts";

/**
 * Names what a new key does not send again, and confirms the change in production.
 *
 * @returns the account that the ledger knows for the earlier key
 * @throws Failure `profile.change-not-confirmed`; the profile is unchanged
 */
export async function confirmNewKey(
  name: string,
  before: Profile,
  { apiKey, baseUrl }: GivenProfile,
  context: Context,
): Promise<string | undefined> {
  if (!isNewKey(before, apiKey)) return undefined;
  let account: string | undefined;
  const unfinished = async () => {
    const ledger = await context.ledger.ofProfile(name, before);
    account = (await ledger.isAccountStored()) ? await ledger.account() : undefined;
    const { unfinishedIn } = await import("../../batches/unfinished.ts");
    return unfinishedIn(ledger);
  };
  const found = await unfinished().catch(onlyFailure);
  const question = newKeyQuestion(name, before, { baseUrl }, found, context.ui.notice);
  if (question) await context.ui.confirm(question);
  return account;
}

/** In production, asks before a profile loses its ledger or gets another one. */
export async function confirmOtherLedger(
  name: string,
  before: Profile,
  after: string | undefined,
  { ui }: Context,
): Promise<void> {
  const question = otherLedgerQuestion(name, before, after);
  if (question) await ui.confirm(question);
}

/** Stores a profile, after a person said whether its account stays the same on another server. */
export async function storeConfirmed(
  name: string,
  given: GivenProfile,
  storing: { replace: boolean; keychain: boolean; knownAccount: string | undefined },
  context: Context,
) {
  const store = storeOf(context);
  const before = storing.replace ? findProfile(name, await store.profiles.read()) : undefined;
  const after = accountAfter(name, before, given, context.host.env.LENDEN_ACCOUNT);
  if ("account" in after) return storeProfile(name, given, { ...storing, ...after }, store);
  const isSame = await (await context.ui.ask())?.yes(after.question);
  if (isSame === undefined) throw after.unanswered;
  const account = isSame ? after.ifSame : undefined;
  return storeProfile(name, given, { ...storing, account }, store);
}

export function storeOf({ config, host, ui }: Context): ProfileStore {
  const { profiles, keychain } = config;
  return { profiles, keychain, randomBytes: host.randomBytes, notice: ui.notice };
}

function onlyFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
