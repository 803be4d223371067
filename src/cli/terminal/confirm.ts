import { amountText, type Paisa, readAmount } from "../../domain/amount.ts";
import { masked } from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import type { Globals } from "../args/globals.ts";
import type { Confirmation, Context } from "../command/context.ts";
import { badge } from "../output/style.ts";
import type { Ask } from "../prompts/ask.ts";
import type { Speech } from "./speech.ts";

interface Surroundings {
  accounts: Pick<Context, "account" | "settings">;
  globals: Globals;
  speech: Speech;
  /** The way to the person, if there is one; its questions begin with this head. */
  ask(head: string): Promise<Ask | undefined>;
  notice: Context["notice"];
  /** Whether it was put together from answers: then it is seen once more as a whole, in a sandbox too. */
  isDialogue: boolean;
}

/**
 * Says what is about to happen, and on a production account lets nobody pass without a yes. A sum
 * worth a second thought is typed by a person, or said beforehand by a script.
 *
 * @throws Failure `access` when nobody confirmed; nothing was sent
 */
export async function confirm(question: Confirmation, around: Surroundings): Promise<void> {
  const { accounts, globals, speech } = around;
  const isDialogue = around.isDialogue && !globals.yes;
  const whose =
    question.profile ?? (question.ofAllAccounts ? undefined : await accountOf(accounts));
  const isReal = whose?.environment === "production";
  const head = speech.isTerminal && whose ? badge(whose.environment, await speech.style()) : "";
  // Before the rows are shown: with JSON output only a person who is asked sees them.
  const ask =
    isDialogue || ((isReal || question.alwaysAsked) && !globals.yes)
      ? await around.ask(head)
      : undefined;
  if (isReal || isDialogue || question.alwaysShown || question.alwaysAsked) {
    speech.say(titleOf(question, { isReal, hasBadge: head !== "" }), head);
    const account = whose ? [["Profile", whose.name] as const, ["Key", whose.key] as const] : [];
    for (const [label, value] of [...account, ...question.rows]) {
      speech.say(label ? `  ${label}: ${value}` : `    ${value}`);
    }
  } else if (head && whose && !globals.quiet)
    speech.say(`${question.action}, profile ${whose.name}`, head);
  await confirmWarnings(question, head, around);
  if (question.profile) await confirmProfileChange(question, ask, globals);
  else if (isReal || question.alwaysAsked) await requireWord(question, ask, around);
  else if (isDialogue) await requireYes(question, ask);
}

/** Asks about each warning in a terminal; otherwise, and with --yes, prints it. */
async function confirmWarnings(
  { warnings = [] }: Confirmation,
  head: string,
  { globals, speech, notice, ...around }: Surroundings,
): Promise<void> {
  if (warnings.length === 0) return;
  const ask = globals.yes ? undefined : await around.ask(head);
  for (const warning of warnings) {
    if (ask === undefined) {
      notice(warning.message, warning.reason);
      continue;
    }
    speech.say(`Warning: ${warning.message}`);
    if (await ask.yes(warning.question)) continue;
    throw new Failure("access", "Not confirmed. Nothing was sent.", {
      hint: "Correct the value, then run the command again.",
    });
  }
}

async function accountOf(accounts: Surroundings["accounts"]) {
  const { environment, name, apiKey } = await accounts.account();
  return { environment, name, key: masked(apiKey) };
}

/** A change of a profile sends nothing, so the error names another effect. */
async function confirmProfileChange(
  { action }: Confirmation,
  ask: Ask | undefined,
  { yes }: Globals,
): Promise<void> {
  if (yes) return;
  if (!ask) {
    throw new Failure("access", "Production requires confirmation. Nothing was changed.", {
      hint: "Review the details above, then add --yes.",
    });
  }
  if (await ask.yes(`${action}?`)) return;
  throw new Failure("access", "Not confirmed. Nothing was changed.");
}

/** A badge says which environment it is; without one, words do. */
function titleOf(
  { action, profile, ofAllAccounts }: Confirmation,
  { isReal, hasBadge }: { isReal: boolean; hasBadge: boolean },
) {
  if (ofAllAccounts) return `${action}:`;
  if (profile) return hasBadge ? `${action}:` : `${action} (${profile.environment}):`;
  if (hasBadge) return isReal ? `${action} with real money:` : `${action}:`;
  return `${action} — ${isReal ? "production, real money" : "sandbox"}:`;
}

async function requireWord(
  question: Confirmation,
  ask: Ask | undefined,
  { accounts, globals }: Surroundings,
): Promise<void> {
  const { amountPaisa, typed } = question;
  if (globals.yes && (!typed || typed.isGiven)) return;
  if (globals.yes && typed)
    throw unconfirmed(question, `with --yes, ${typed.flags} have to be given too`);
  if (!ask) throw unconfirmed(question, `add --yes${typed ? ` and ${typed.flags}` : ""}`);
  const limit = (await accounts.settings()).confirmAbove.value;
  const isLarge = amountPaisa !== undefined && amountPaisa > limit;
  const text = typed ?? (isLarge ? amountTyped(amountPaisa) : undefined);
  await (text ? requireText(text, ask) : requireYes(question, ask));
}

async function requireYes({ action }: Confirmation, ask: Ask | undefined): Promise<void> {
  if (await ask?.yes(`${action}?`)) return;
  throw new Failure("access", "This was not confirmed.", { hint: "Nothing was sent." });
}

type TypedText = Pick<NonNullable<Confirmation["typed"]>, "what" | "matches">;

/** The figure as it is written on the command line, so that nobody wonders about commas. */
function amountTyped(amountPaisa: Paisa): TypedText {
  return {
    what: `the amount, ${amountText(amountPaisa)}`,
    matches: (text) => {
      const read = readAmount(text);
      return read.ok && read.value === amountPaisa;
    },
  };
}

async function requireText({ what, matches }: TypedText, ask: Ask): Promise<void> {
  const answer = await ask.word(`Type ${what}, to go on:`);
  if (matches(answer.trim())) return;
  throw new Failure("access", `What was typed is not ${what}.`, { hint: "Nothing was sent." });
}

function unconfirmed({ action, alwaysAsked }: Confirmation, what: string): Failure {
  const message = alwaysAsked
    ? `Cannot confirm non-interactively: ${action}. Nothing was sent.`
    : "This is a production account, and nobody confirmed.";
  return new Failure("access", message, {
    hint: `Check ${alwaysAsked ? "the lines above" : "what is about to be sent"}, then ${what}; nothing was sent.`,
  });
}
