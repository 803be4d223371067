import type { CheckedFile } from "../../../batches/check.ts";
import type {
  ChangedRecipient,
  Comparison,
  LastBatch,
  Recipient,
} from "../../../batches/comparison.ts";
import { sumJson } from "../../../batches/plain.ts";
import { countRow, type Sum } from "../../../batches/status.ts";
import { createdText, sumText } from "../../../batches/texts.ts";
import type { Context, Schemas } from "../../../cli/command/define-command.ts";
import { agoText } from "../../../cli/output/time.ts";
import { amountText, type Paisa } from "../../../domain/amount.ts";
import { formatDay } from "../../../domain/local-time.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { counted, rowsText } from "../../../domain/text.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";

const mostShown = 5;

/** What a new file is compared with. */
interface Compared {
  comparison: Comparison | undefined;
  /** The batch whose failed rows the file has: it is not compared with an earlier one. */
  repaired: Batch | undefined;
  /** When the batch that it is compared with was sent; empty if none was. */
  sent: string;
  /** A warning that most rows were sent a short time ago; empty if not. */
  warning: string;
}

export const nothingCompared: Compared = {
  comparison: undefined,
  repaired: undefined,
  sent: "",
  warning: "",
};

export async function comparisonOf(
  read: CheckedFile,
  ledger: Ledger,
  { host, ui }: Context,
): Promise<Compared> {
  const { compareWithLast } = await import("../../../batches/comparison.ts");
  const { repairedBatch } = await import("../../../batches/retries.ts");
  const repaired = await repairedBatch(read.rows, ledger);
  const comparison = repaired ? undefined : await compareWithLast(read, ledger);
  const sent = sentText(comparison?.last, host.now());
  const warning = similarText(comparison?.last, read.rows.length, host.now(), sent);
  if (warning !== "") ui.notice(warning, "batch.similar-sent");
  return { comparison, repaired, sent, warning };
}

/** Payrolls are at least so many days apart. */
const fewestDays = 20;
const dayMs = 86_400_000;

function sentText(last: LastBatch | undefined, nowMs: number): string {
  if (last?.sentAt === undefined) return "";
  return agoText(last.sentAt, nowMs) ?? `on ${formatDay(last.sentAt)}`;
}

/** That most rows of a file were sent a short time ago; empty if they were not. */
function similarText(
  last: LastBatch | undefined,
  rows: number,
  nowMs: number,
  sent: string,
): string {
  if (!last || last.sentAt === undefined || last.same.count * 2 <= rows) return "";
  if (nowMs - Date.parse(last.sentAt) >= fewestDays * dayMs) return "";
  const { batch, same } = last;
  return `${same.count} of ${rowsText(rows)} (${formatPaisa(same.sumPaisa)}) have the same recipient and amount as in batch ${batch.id}, ${batch.name}, which was sent ${sent}. If you send the file, they are paid again.`;
}

/** What a person checks before a new file is sent: labels and texts. */
export function comparedRows(
  { comparison, repaired, sent, warning }: Compared,
  now: Sum,
): [string, string][] {
  if (repaired)
    return [["Repairs", `batch ${repaired.id}, ${repaired.name}, ${createdText(repaired)}`]];
  const again: [string, string][] = warning === "" ? [] : [["Paid again", warning]];
  return comparison ? [...again, ...comparisonRows(comparison, now, sent)] : [];
}

function comparisonRows(
  { last, firstPayouts }: Comparison,
  now: Sum,
  sent: string,
): [string, string][] {
  return [
    ...(last ? lastRows(last, now, sent) : []),
    ...group("No earlier payout", firstPayouts, shown),
  ];
}

function lastRows(last: LastBatch, now: Sum, sent: string): [string, string][] {
  const { batch, total } = last;
  const change = `${changeText(now.sumPaisa, total.sumPaisa)}, previously ${sumText(total)}`;
  const amount = (one: ChangedRecipient<Paisa>) =>
    `${shown(one)}, previously ${formatPaisa(one.before)} (${percentText(one.amountPaisa, one.before)})`;
  const number = (one: ChangedRecipient<string>) => `${shown(one)}, previously ${one.before}`;
  return [
    ["Compared with", `batch ${batch.id}, ${batch.name}, ${createdText(batch)}`],
    ["Change in total", change],
    ...sameRows(last, sent),
    ...group("New", last.added, shown),
    ...group("Missing", last.missing, shown),
    ...group("Amount changed", last.amountChanged, amount),
    ...group("Number changed", last.numberChanged, number),
  ];
}

function sameRows({ same }: LastBatch, sent: string): [string, string][] {
  if (same.count === 0) return [];
  const when = sent === "" ? "" : `, sent ${sent}`;
  return [["Unchanged", `${sumText(same)}, with the same recipient and amount${when}`]];
}

/** The recipients of a group: their count and amount, and the first of them. */
function group<One extends Recipient>(
  label: string,
  all: One[],
  textOf: (one: One) => string,
): [string, string][] {
  if (all.length === 0) return [];
  const { count, sumPaisa } = sumOfRecipients(all);
  const texts = all.slice(0, mostShown).map(textOf);
  if (all.length > mostShown) texts.push(`and ${all.length - mostShown} more`);
  const first = `${counted(count, "recipient")}, ${formatPaisa(sumPaisa)}`;
  return [[label, first], ...texts.map((text): [string, string] => ["", text])];
}

function shown({ line, to, name, amountPaisa }: Recipient): string {
  const place = line === undefined ? "" : `line ${line}: `;
  return `${place}${formatPaisa(amountPaisa)} to ${to}${name ? ` (${name})` : ""}`;
}

function changeText(now: Paisa, before: Paisa): string {
  if (now === before) return "none";
  const change = now > before ? `+${formatPaisa(now - before)}` : `-${formatPaisa(before - now)}`;
  return `${change} (${percentText(now, before)})`;
}

/** `+5.2 %`. */
function percentText(now: Paisa, before: Paisa): string {
  const tenths = Number(((now - before) * 1_000n) / before);
  return `${tenths < 0 ? "" : "+"}${(tenths / 10).toFixed(1)} %`;
}

function sumOfRecipients(all: Recipient[]): Sum {
  const sum = { count: 0, sumPaisa: 0n };
  for (const recipient of all) countRow(sum, recipient);
  return sum;
}

/** In JSON; `recipients` counts all of them. */
const mostListed = 1_000;

/** As scripts get it: amounts in BDT, as text. */
export function comparisonJson({ last, firstPayouts }: Comparison) {
  const amount = ({ before }: ChangedRecipient<Paisa>) => ({ before: amountText(before) });
  const number = ({ before }: ChangedRecipient<string>) => ({ before });
  return {
    lastBatch: last
      ? {
          batch: last.batch.id,
          name: last.batch.name,
          createdAt: last.batch.createdAt,
          sentAt: last.sentAt ?? null,
          ...sumJson(last.total),
          same: sumJson(last.same),
          new: groupJson(last.added),
          missing: groupJson(last.missing),
          amountChanged: groupJson(last.amountChanged, amount),
          numberChanged: groupJson(last.numberChanged, number),
        }
      : null,
    firstPayouts: groupJson(firstPayouts),
  };
}

function groupJson<One extends Recipient>(all: One[], more: (one: One) => object = () => ({})) {
  const { count: recipients, sumPaisa } = sumOfRecipients(all);
  const list = all.slice(0, mostListed).map((one) => {
    const { line = null, to, name, amountPaisa } = one;
    return { line, to, name, amount: amountText(amountPaisa), ...more(one) };
  });
  return { recipients, total: amountText(sumPaisa), list };
}

/** What to check in a file before it is sent. */
export function comparisonOutput({ z, text, textOrNull, count, amount, each }: Schemas) {
  const recipients = (more: Parameters<Schemas["z"]["strictObject"]>[0] = {}) =>
    z.strictObject({
      recipients: count,
      total: amount,
      list: z.array(
        z.strictObject({ line: z.nullable(count), to: text, name: textOrNull, amount, ...more }),
      ),
    });

  return z.strictObject({
    lastBatch: z.nullable(
      z.strictObject({
        ...each(text, "batch name createdAt"),
        sentAt: textOrNull,
        rows: count,
        total: amount,
        same: z.strictObject({ rows: count, total: amount }),
        new: recipients(),
        missing: recipients(),
        amountChanged: recipients({ before: amount }),
        numberChanged: recipients({ before: text }),
      }),
    ),
    firstPayouts: recipients(),
  });
}
