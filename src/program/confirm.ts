import { masked } from "../contract/keys.ts";
import { Failure } from "../failure.ts";
import type { Confirmation, Context } from "../frame/context.ts";
import type { Globals } from "./globals.ts";

/**
 * On a production account: shows what is about to happen, and lets nobody pass without a yes. A sum
 * worth a second thought is typed by a person, or said beforehand by a script.
 *
 * @throws Failure `access` when nobody confirmed; nothing was sent
 */
export async function confirm(
  { action, rows, alwaysShown, typed }: Confirmation,
  { context, globals }: { context: Context; globals: Globals },
): Promise<void> {
  const { environment, name, apiKey } = await context.account();
  const isReal = environment === "production";
  if (!isReal && !alwaysShown) return;
  context.notice(`${action} — ${isReal ? "production, real money" : "sandbox"}:`);
  for (const [label, value] of [["Profile", name], ["Key", masked(apiKey)], ...rows]) {
    context.notice(label ? `  ${label}: ${value}` : `    ${value}`);
  }
  if (!isReal) return;
  if (globals.yes && (!typed || typed.isGiven)) return;
  if (globals.yes && typed) throw unconfirmed(`with --yes, ${typed.flags} have to be given too`);
  const ask = typed && (await context.ask());
  if (!ask) throw unconfirmed(`add --yes${typed ? ` and ${typed.flags}` : ""}`);
  const answer = await ask.text(`Type ${typed.what} to go on:`);
  if (typed.matches(answer.trim())) return;
  throw new Failure("access", `What was typed is not ${typed.what}.`, {
    hint: "Nothing was sent.",
  });
}

function unconfirmed(what: string): Failure {
  return new Failure("access", "This is a production account, and nobody confirmed.", {
    hint: `Look at the lines above, then ${what}; nothing was sent.`,
  });
}
