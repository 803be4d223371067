// What a row of measurements comes to, and how it is written down. Nothing is rounded in lenden's
// favour: its own ratio is cut where it should be large, and rounded up where it should be small.

/** The middle of the samples, what lies around it, and how many there were. */
function summary(samples) {
  const sorted = samples.toSorted((one, other) => one - other);
  const at = (share) => sorted[Math.floor((sorted.length - 1) * share)];
  const middle = (sorted.length - 1) / 2;
  return {
    median: (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2,
    least: at(0),
    most: at(1),
    quartiles: [at(0.25), at(0.75)],
    count: sorted.length,
  };
}

/** Each name's samples as their summary. */
export function summaries(samples) {
  return Object.fromEntries(Object.entries(samples).map(([name, all]) => [name, summary(all)]));
}

export function whole(number) {
  return Math.round(number).toLocaleString("en");
}

export function spread({ least, most }, write = whole) {
  return `${write(least)} to ${write(most)}`;
}

/** A ratio of lenden's that should be large. */
export function cut(ratio) {
  return (Math.floor(ratio * 100) / 100).toFixed(2);
}

/** A ratio of lenden's that should be small, or one of others' that should be large. */
export function roundedUp(ratio) {
  return (Math.ceil(ratio * 100) / 100).toFixed(2);
}

export function verdict(holds) {
  return holds ? "yes" : "NO";
}

/** A part of the report as Markdown: its title, what must be known to read it, and its table. */
export function markdown({ title, notes, columns, rows }) {
  const widths = columns.map((column, index) =>
    Math.max(column.length, 3, ...rows.map((row) => row[index].length)),
  );
  const line = (cells) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index])).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return [`## ${title}`, ...notes, [line(columns), rule, ...rows.map(line)].join("\n")].join(
    "\n\n",
  );
}
