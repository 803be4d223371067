import type { Context } from "../../cli/command/define-command.ts";
import type { Confirmation } from "../../cli/terminal/confirm.ts";
import { amountText, type Paisa, paisaOf, readAmount } from "../../domain/amount.ts";
import { Failure } from "../../domain/failure.ts";
import { scalarText } from "../../domain/json.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatPaisa } from "../../domain/money.ts";
import { personIn, personText } from "../../domain/person.ts";
import { inCommand } from "../../domain/text.ts";
import type { RecordedOrder } from "../../ledger/ledger.ts";
import type { Resends } from "../../operations/resends.ts";

/** What a script expects of the payouts that `ledger resolve` sends again. */
interface Expected {
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
}

/**
 * Asks for each payout above the limit of the profile, in production. The others are confirmed together.
 *
 * @returns what the last question shows, and what confirms it on the command line
 * @throws Failure `resolve.expectation-differs`, `confirmation.declined`
 */
export async function confirmResends(
  { sent, notSealed }: Resends,
  { name, ...expected }: Expected & { name: string | undefined },
  context: Context,
): Promise<Pick<Confirmation, "rows" | "typed" | "alwaysShown">> {
  const totalPaisa = sent.reduce((sum, one) => sum + amountIn(one), 0n);
  checkExpected(expected, { count: sent.length, totalPaisa });
  const total = { count: sent.length, totalPaisa };
  for (const one of await largeOf(sent, context))
    await context.ui.confirm({
      action: `Send payout ${nameOf(one)} again`,
      rows: detailsOf(one),
      amountPaisa: amountIn(one),
    });
  return {
    rows: [
      ...rowsOf("Sent again", sent),
      ...(sent.length > 1 ? [["Total", totalText(total)] satisfies [string, string]] : []),
      ...rowsOf("Not sent, because its seal is not valid", notSealed),
    ],
    alwaysShown: sent.length + notSealed.length > 0,
    ...(sent.length > 0 ? { typed: typedTotal(total, expected, name) } : {}),
  };
}

/** Those that a person confirms one by one. */
async function largeOf(sent: RecordedOrder[], { config, ui }: Context): Promise<RecordedOrder[]> {
  const { environment } = await config.account();
  if (environment !== "production" || !(await ui.asksPerson())) return [];
  const limit = (await config.settings()).confirmAbove.value;
  return sent.filter((one) => amountIn(one) > limit);
}

interface Total {
  count: number;
  totalPaisa: Paisa;
}

/** Non-interactively, a script states what it sends again. */
function typedTotal(
  { count, totalPaisa }: Total,
  { expectTotal, expectCount }: Expected,
  name: string | undefined,
): NonNullable<Confirmation["typed"]> {
  const flags = `--expect-total ${amountText(totalPaisa)} --expect-count ${count}`;
  const named = name === undefined ? "" : ` ${inCommand(name)}`;
  return {
    what: `the total, ${amountText(totalPaisa)}`,
    matches: (text) => {
      const read = readAmount(text);
      return read.ok && read.value === totalPaisa;
    },
    isGiven: expectTotal !== undefined && expectCount !== undefined,
    flags,
    isForScripts: true,
    command: `lenden ledger resolve${named} --yes ${flags}`,
  };
}

function checkExpected({ expectTotal, expectCount }: Expected, total: Total): void {
  const problems: string[] = [];
  if (expectTotal !== undefined && expectTotal !== total.totalPaisa)
    problems.push(
      `--expect-total: the payouts to send again add up to ${formatPaisa(total.totalPaisa)}, not ${formatPaisa(expectTotal)}.`,
    );
  if (expectCount !== undefined && expectCount !== total.count)
    problems.push(
      `--expect-count: ${total.count} ${total.count === 1 ? "payout" : "payouts"} would be sent again, not ${expectCount}.`,
    );
  const [first, ...others] = problems;
  if (first !== undefined)
    throw new Failure("resolve.expectation-differs", first, {
      problems: others,
      hint: "To list unknown outcomes, run 'lenden ledger list --unknown'.",
    });
}

function totalText({ count, totalPaisa }: Total): string {
  return `${formatPaisa(totalPaisa)} in ${count} payouts`;
}

/** One line for each, the label on the first one. */
function rowsOf(label: string, all: RecordedOrder[]): [string, string][] {
  return all.map((one, place) => {
    const details = detailsOf(one).map(([label, value]) => `${label.toLowerCase()} ${value}`);
    return [place === 0 ? label : "", `${nameOf(one)}: ${details.join(", ")}`];
  });
}

function nameOf({ payout }: RecordedOrder): string {
  return payout.reference ?? payout.id;
}

/** Of the request: it is what is sealed and sent. */
function amountIn({ payout: { lastAsked, amountPaisa } }: RecordedOrder): Paisa {
  return paisaOf(Number(scalarText(lastAsked.amount) || Number.NaN)) ?? amountPaisa ?? 0n;
}

function detailsOf(order: RecordedOrder): [string, string][] {
  const { payout, event } = order;
  const { methodName, user, login, createdAt, lastAsked: asked } = payout;
  const name = textIn(asked.recipientName);
  const to = textIn(asked.recipientNumber) || "an unknown number";
  const person = event && event.event !== "unreadable" ? personIn(event.data.origin) : undefined;
  const by = personText(person?.user ?? user, event?.login ?? login, person?.machine);
  return [
    ["Amount", formatPaisa(amountIn(order))],
    ["To", name === "" ? to : `${to} (${name})`],
    ["Method", methodName ?? textIn(asked.paymentMethodId)],
    ["Recorded by", `${by}, ${formatTime(event?.at ?? createdAt)}`],
  ];
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
