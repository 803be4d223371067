import { formatDay, formatTime } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import type { Resource } from "../domain/statuses.ts";
import {
  type AccountReport,
  entriesIn,
  type Group,
  labelOf,
  listedBuckets,
  listedText,
  netOf,
  periodText,
  type Scope,
  type Sums,
  sumIn,
} from "./report.ts";

/** The kinds in the order of the report, with their headings. */
const kinds: [kind: Resource, heading: string][] = [
  ["payment", "Payments in"],
  ["refund", "Refunds out"],
  ["payout", "Payouts out"],
];

const style = `
:root { color-scheme: light; --ink: #1c2430; --soft: #515c6b; --paper: #fff; --ground: #f3f5f8; --line: #ccd3dc;
  --payment: #0b7a5b; --refund: #b7621b; --payout: #2b62c4; --note: #fff3d6; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --ink: #eceff4; --soft: #b4bdca;
  --paper: #1d242e; --ground: #12171e; --line: #3b4654; --payment: #4cc9a0; --refund: #f0a45a; --payout: #7aa7ff;
  --note: #40351a; } }
* { box-sizing: border-box; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
body { margin: 0; padding: 1.5rem 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.45 system-ui, "Noto Sans Bengali", sans-serif; }
main { max-width: 62rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.6rem; } h2 { margin: 0 0 1rem; font-size: 1.25rem; }
header p, footer p, .soft { color: var(--soft); margin: .25rem 0; }
section { margin: 1.25rem 0; padding: 1.25rem; background: var(--paper); border-radius: .75rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: 0; }
.tiles div { padding: .6rem .8rem; border: 1px solid var(--line); border-left: .35rem solid var(--tone, var(--line));
  border-radius: .5rem; }
dt { color: var(--soft); } dd { margin: 0; } .tiles dd b { font-size: 1.1rem; white-space: nowrap; }
ul { margin: 0; padding-left: 1.25rem; }
.note { margin: 1rem 0 0; padding: .6rem .8rem; background: var(--note); border-radius: .5rem; }
figure { margin: 1.25rem 0 0; } figcaption { color: var(--soft); }
i { display: inline-block; height: .75em; background: var(--tone); }
figcaption i { width: .75em; border-radius: .15em; margin: 0 .35em 0 1em; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 11px; } svg line { stroke: var(--line); } svg rect { fill: var(--tone); }
.payment { --tone: var(--payment); } .refund { --tone: var(--refund); } .payout { --tone: var(--payout); }
.wide { overflow-x: auto; margin-top: 1.25rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child { text-align: left; } th .soft { display: block; font-weight: 400; white-space: normal; } .first { text-transform: capitalize; } thead th { color: var(--soft); font-weight: 600; }
tfoot * { font-weight: 700; border-bottom: 0; } .bar { display: flex; height: .4rem; }
.bar i { height: auto; }
@media print { html { font-size: 80%; } tfoot { display: table-row-group; } body { padding: 0; background: none; } section { padding: 0; }
  tr, .tiles, figure { break-inside: avoid; } }
`;

/** One page that loads nothing: to read in a browser, to print, and to send to others. */
export function reportPage(accounts: AccountReport[], scope: Scope, createdAt: string): string {
  const { by, zone } = scope;
  const title = `Payments, refunds and payouts, ${periodText(scope)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Payments, refunds and payouts</h1>
<p class="soft">${periodText(scope)}, by ${by}. Time zone: ${escaped(zone)}. Created ${formatTime(createdAt, zone)}.</p>
${accounts.map((one) => sectionOf(one, scope)).join("\n") || "<section>No operations in this period.</section>"}
<p class="soft">A payment, refund or payout counts on the day it was completed. The net contains fees only as recorded entries.</p>
</main>
</body>
</html>`;
}

function sectionOf(report: AccountReport, scope: Scope): string {
  const { account, environment, total, groups } = report;
  const { by } = scope;
  const isByDay = by === "day";
  const tiles = kinds.map(([kind, heading]) => {
    const { count, paisa } = sumIn(total, "completed", [kind]);
    return `<div class="${kind}"><dt>${heading}</dt><dd><b>${formatPaisa(paisa)}</b><br>${countOf(count, kind)}</dd></div>`;
  });
  const headings = kinds.map(([, heading]) => `<th scope="col">${heading}</th>`).join("");
  const moved = groups.filter(({ sums }) => movedIn(sums) > 0);
  const longest = isByDay ? undefined : most(moved.map(({ sums }) => movedIn(sums)));
  return `<section>
<h2>${escaped(account)} <span class="soft">${escaped(environment)}</span></h2>
<dl class="tiles">${tiles.join("")}${entryTile(total)}<div><dt>Net</dt><dd><b>${formatPaisa(netOf(total))}</b></dd></div></dl>
${openNote(report, scope.zone)}${isByDay ? dayChart(moved) : ""}
<div class="wide" tabindex="0" role="region" aria-label="Sums by ${by}">
<table>
<thead><tr><th scope="col" class="first">${by}</th>${headings}<th scope="col">Net</th></tr></thead>
<tbody>
${moved.map((one) => rowOf(one, labelOf(one, scope), longest)).join("\n")}
</tbody>
<tfoot><tr><th scope="row">Total</th>${amountCells(total)}</tr></tfoot>
</table>
</div>
</section>`;
}

/** @param longest the amount of the longest bar; undefined without bars */
function rowOf({ name, sums }: Group, label: string, longest: number | undefined): string {
  const also = name === null ? "" : ` <span class="soft">${escaped(name)}</span>`;
  const bars = kinds.map(([kind]) => {
    const part = (movedIn(sums, kind) / (longest ?? 1)) * 100;
    return part > 0 ? `<i class="${kind}" style="width:${part.toFixed(2)}%"></i>` : "";
  });
  const bar = longest === undefined ? "" : `<div class="bar">${bars.join("")}</div>`;
  return `<tr><th scope="row">${escaped(label)}${also}${bar}</th>${amountCells(sums)}</tr>`;
}

/** What people explained in statements; nothing without any. */
function entryTile(total: Sums): string {
  const { count, paisa } = entriesIn(total);
  if (count === 0) return "";
  return `<div><dt>Entries</dt><dd><b>${formatPaisa(paisa)}</b><br>fees, top-ups and others</dd></div>`;
}

function amountCells(sums: Sums): string {
  const amounts = kinds.map(([kind]) => sumIn(sums, "completed", [kind]).paisa);
  return [...amounts, netOf(sums)]
    .map((paisa) => `<td>${paisa === 0n ? "–" : formatPaisa(paisa)}</td>`)
    .join("");
}

/** What may have moved money, or will, and what is not proved or not Completed any more. */
function openNote({ total, listed }: AccountReport, zone: string): string {
  const open = kinds.flatMap(([kind]) =>
    (
      [
        ["unknown", "outcome unknown"],
        ["inProgress", "in progress"],
        ["noLongerCompleted", "not Completed any more"],
      ] as const
    ).flatMap(([bucket, words]) => {
      const { count, paisa } = sumIn(total, bucket, [kind]);
      return count === 0 ? [] : `<li>${countOf(count, kind)}, ${words}: ${formatPaisa(paisa)}</li>`;
    }),
  );
  const { count } = sumIn(total, "differing");
  const differing = count === 0 ? [] : [`<li>${count} with a record that differs</li>`];
  const each = listedBuckets.flatMap((bucket) =>
    listed[bucket].map((one) => `<li>${escaped(listedText(one, zone))}</li>`),
  );
  const lines = [...open, ...differing, ...each];
  return lines.length === 0
    ? ""
    : `<div class="note">Not in these sums:<ul>${lines.join("")}</ul></div>\n`;
}

const dayMs = 86_400_000;
const chart = { left: 90, width: 990, height: 200 };

/** A column for each day and kind. */
function dayChart(moved: Group[]): string {
  const [first, last] = [moved[0], moved.at(-1)].map((one) => Date.parse(one?.key ?? ""));
  if (first === undefined || last === undefined || moved.length === 0) return "";
  const sumsOf = new Map(moved.map(({ key, sums }) => [Date.parse(key), sums]));
  const count = (last - first) / dayMs + 1;
  const days = Array.from({ length: count }, (_, index) => first + index * dayMs);
  const top = roundAbove(
    most(moved.flatMap(({ sums }) => kinds.map(([kind]) => movedIn(sums, kind)))),
  );
  const slot = (chart.width - chart.left) / count;
  const wide = Math.min(slot * 0.27, 18);
  const lines = [0, 0.5, 1].map((part) => {
    const y = 12 + chart.height * (1 - part);
    const text = formatPaisa(BigInt(top * part)).replace(/\.00$/, "");
    return `<line x1="${chart.left}" x2="${chart.width}" y1="${y}" y2="${y}"/><text x="${chart.left - 8}" y="${y + 4}" text-anchor="end">${text}</text>`;
  });
  const every = Math.ceil(count / 12);
  const columns = days.flatMap((day, index) => {
    const x = chart.left + slot * index + (slot - wide * 3) / 2;
    const name = formatDay(new Date(day).toISOString(), "UTC");
    const bars = kinds.map(([kind, heading], place) => {
      const high = (movedIn(sumsOf.get(day) ?? {}, kind) / top) * chart.height;
      return high > 0
        ? `<rect class="${kind}" x="${(x + wide * place).toFixed(1)}" y="${(12 + chart.height - high).toFixed(1)}" width="${wide.toFixed(1)}" height="${high.toFixed(1)}"><title>${name}, ${heading}</title></rect>`
        : "";
    });
    const label =
      index % every === 0
        ? `<text x="${(x + wide * 1.5).toFixed(1)}" y="${chart.height + 30}" text-anchor="middle">${name.replace(/ \d+$/, "")}</text>`
        : "";
    return [...bars, label];
  });
  const legend = kinds.map(([kind, heading]) => `<i class="${kind}"></i>${heading}`).join("");
  return `<figure>
<svg viewBox="0 0 ${chart.width + 10} ${chart.height + 38}" role="img" aria-label="Amounts of each day; the table has the numbers">${[...lines, ...columns].join("")}</svg>
<figcaption>${legend}</figcaption>
</figure>
`;
}

/** A round number of paisa that is not below another. */
function roundAbove(paisa: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(paisa, 200)));
  return power * ([1, 2, 3, 4, 5, 6, 8].find((times) => times * power >= paisa) ?? 10);
}

function countOf(count: number, kind: Resource): string {
  return `${count} ${kind}${count === 1 ? "" : "s"}`;
}

/** Paisa that were moved, for a drawing. */
function movedIn(sums: Sums, kind?: Resource): number {
  return Number(sumIn(sums, "completed", kind && [kind]).paisa);
}

function most(numbers: number[]): number {
  return numbers.reduce((most, one) => Math.max(most, one), 1);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
