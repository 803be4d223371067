import { withoutProfile } from "../../config/account.ts";
import { amountText, type Paisa, readAmount } from "../../domain/amount.ts";
import { type Environment, masked } from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import type { Globals } from "../args/globals.ts";
import { badge } from "../output/style.ts";
import type { ConfigAccess } from "../runtime/config-access.ts";
import type { Ask } from "./ask.ts";
import type { Reporter } from "./reporter.ts";

/** A question before money moves, or before something cannot be undone. */
export interface Confirmation {
  /** An imperative: `Send a payout`. */
  action: string;
  /** Labels and values; an absent one is omitted. */
  rows: [string, string | null | undefined][];
  /** Above the profile's limit, the amount is typed to confirm it. */
  amountPaisa?: Paisa;
  /** True if the rows are shown in the sandbox too. */
  alwaysShown?: boolean;
  /** True if it concerns all accounts of this machine: then no profile is needed. */
  ofAllAccounts?: boolean;
  /** The stored profile that is about to change. No request is sent to its account. */
  profile?: { name: string; environment: Environment; key: string };
  /** True if a sandbox account requires the confirmation too. */
  alwaysAsked?: boolean;
  /** The text that confirms a large amount. */
  typed?: {
    what: string;
    matches(text: string): boolean;
    /** True if the command line has it already: then --yes is enough. */
    isGiven: boolean;
    /** The flags that state it on the command line. */
    flags: string;
    /** The whole command, if its values are known. */
    command?: string;
    /** True if a person only says yes: they have confirmed large amounts before. */
    isForScripts?: boolean;
  };
}

interface Surroundings {
  config: Pick<ConfigAccess, "account" | "settings">;
  globals: Globals;
  reporter: Reporter;
  /** Undefined if a person cannot be asked. `head` is shown before each prompt. */
  ask(head: string): Promise<Ask | undefined>;
  /** True if the command was composed in a dialogue: it is confirmed as a whole, in a sandbox too. */
  isDialogue: boolean;
}

/**
 * Shows what is about to happen. On a production account a person has to confirm it, or --yes. A large
 * amount is typed by the person.
 *
 * @throws Failure `confirmation.declined` or `confirmation.missing`; nothing was sent
 */
export async function confirm(question: Confirmation, around: Surroundings): Promise<void> {
  const { config, globals, reporter } = around;
  const { action, alwaysAsked, alwaysShown, profile } = question;
  const isDialogue = around.isDialogue && !globals.yes;
  const account = profile ?? (question.ofAllAccounts ? undefined : await accountOf(config));
  const isProduction = account?.environment === "production";
  const head =
    reporter.isTerminal && account ? badge(account.environment, await reporter.style()) : "";
  // Before the rows are shown: with JSON output only a person who is asked sees them.
  const isAsked = isDialogue || ((isProduction || alwaysAsked) && !globals.yes);
  const ask = isAsked ? await around.ask(head) : undefined;
  // With --quiet, a summary is shown only if something is still to be confirmed.
  const isComplete = !isAsked && (!isProduction || (question.typed?.isGiven ?? false));
  const isHidden = globals.quiet && alwaysShown === true && isComplete;
  if (!isHidden && (isProduction || isDialogue || alwaysShown || alwaysAsked)) {
    reporter.say(titleOf(question, isProduction, head), head);
    const rows = account
      ? [
          ["Profile", account.name],
          ["Key", account.key],
        ]
      : [];
    for (const [label, value] of [...rows, ...question.rows])
      if (typeof value === "string") reporter.say(label ? `  ${label}: ${value}` : `    ${value}`);
  } else if (head && account && !globals.quiet) {
    const which = account.name === withoutProfile ? "account from" : "profile";
    reporter.say(`${action}, ${which} ${account.name}`, head);
  }
  if (profile) await confirmProfileChange(action, ask, globals);
  else if (isProduction || alwaysAsked) await confirmWrite(question, ask, around);
  else if (isDialogue) await requireYes(question, ask);
}

async function accountOf(config: Surroundings["config"]) {
  const { environment, name, apiKey } = await config.account();
  return { environment, name, key: masked(apiKey) };
}

/** The badge names the environment; without one, words do. */
function titleOf(
  { action, profile, ofAllAccounts }: Confirmation,
  isProduction: boolean,
  head: string,
) {
  if (ofAllAccounts) return `${action}:`;
  if (profile) return head ? `${action}:` : `${action} (${profile.environment}):`;
  if (head) return isProduction ? `${action} with real money:` : `${action}:`;
  return `${action} — ${isProduction ? "production, real money" : "sandbox"}:`;
}

/** A change of a profile sends nothing, so the error names another effect. */
async function confirmProfileChange(action: string, ask: Ask | undefined, { yes }: Globals) {
  if (yes || (await ask?.yes(`${action}?`))) return;
  const message = ask ? "Not confirmed" : "Production requires confirmation";
  throw new Failure("profile.change-not-confirmed", `${message}. Nothing was changed.`, {
    ...(ask ? {} : { hint: "Review the details, then add --yes." }),
  });
}

async function confirmWrite(
  question: Confirmation,
  ask: Ask | undefined,
  { config, globals }: Surroundings,
): Promise<void> {
  const { amountPaisa, typed } = question;
  if (globals.yes && (!typed || typed.isGiven)) return;
  if (globals.yes || !ask) throw missing(question, globals);
  const limit = (await config.settings()).confirmAbove.value;
  if (typed && !typed.isForScripts) await requireText(typed, ask);
  else if (amountPaisa !== undefined && amountPaisa > limit)
    await requireText(amountOf(amountPaisa), ask);
  else await requireYes(question, ask);
}

async function requireYes({ action }: Confirmation, ask: Ask | undefined): Promise<void> {
  if (!(await ask?.yes(`${action}?`))) throw declined();
}

type TypedText = Pick<NonNullable<Confirmation["typed"]>, "what" | "matches">;

/** The amount is written as on the command line, so that commas are not in question. */
function amountOf(amountPaisa: NonNullable<Confirmation["amountPaisa"]>): TypedText {
  return {
    what: `the amount (${amountText(amountPaisa)})`,
    matches: (text) => {
      const read = readAmount(text);
      return read.ok && read.value === amountPaisa;
    },
  };
}

async function requireText({ what, matches }: TypedText, ask: Ask): Promise<void> {
  const answer = await ask.word(`Type ${what} to confirm:`);
  if (!matches(answer.trim())) throw declined(`To confirm, type ${what}.`);
}

function declined(hint?: string): Failure {
  return new Failure("confirmation.declined", "Not confirmed.", hint === undefined ? {} : { hint });
}

function missing({ action, alwaysAsked, typed }: Confirmation, { yes }: Globals): Failure {
  const what = action.charAt(0).toLowerCase() + action.slice(1);
  const message = `${alwaysAsked ? "This command" : "Production"} requires confirmation to ${what}.`;
  if (typed?.command)
    return new Failure("confirmation.missing", message, {
      hint: `Review the details, then run '${typed.command}'.`,
    });
  const flags = [...(yes ? [] : ["--yes"]), ...(typed && !typed.isGiven ? [typed.flags] : [])];
  return new Failure("confirmation.missing", message, {
    hint: `Review the details, then add ${flags.join(" and ")}.`,
  });
}
