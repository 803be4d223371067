import { Failure } from "../failure.ts";
import type { Confirmation, Context } from "../frame/context.ts";
import { card, field, text } from "../ui/view.ts";

/**
 * What was put together from answers is seen once more as a whole before it is sent, in a sandbox
 * too; production asks by itself.
 *
 * @throws Failure `access` where the answer is no; nothing was sent
 */
export async function confirmDialogue(
  { action, rows, alwaysShown }: Confirmation,
  context: Context,
): Promise<void> {
  const ask = await context.ask();
  const { environment, name } = await context.account();
  if (!ask || environment === "production") return;
  const all: [string, string][] = [["Profile", name], ...rows];
  const fields = all.map(([label, value]) => field(label, label, text(value)));
  if (!alwaysShown) await context.show(card(`${action} (sandbox)`, "", fields));
  if (await ask.yes(`${action}?`)) return;
  throw new Failure("access", "You did not confirm it.", { hint: "Nothing was sent." });
}
