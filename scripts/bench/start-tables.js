// What was measured of starting, as tables: a command a line, a Node two or three columns.
import { roundedUp, spread, whole } from "./figures.js";

/** Milliseconds from before a command's start to after its end. */
export function timeTable(report, times) {
  const columns = ["least to most", "of bare Node"];
  return {
    title: "Starting, in milliseconds",
    notes: [
      `Medians of ${report.rounds} rounds side by side: each round runs every command once. The loopback server answers at once; \`payout send\` asks lenden's own sandbox, and writes its ledger.`,
      "NODE_EXTRA_CA_CERTS is taken out for every command that does not name it: it makes Node 20 some 40 ms slower to start. Node 22 and later keep compiled code of lenden for the next start; the round that fills the cache is not counted.",
      versionsOf(report),
    ],
    ...linesOf(report, columns, ({ name, major, beside = "node -e 0" }) => {
      const ms = times[name];
      const bare = times[`${beside} (Node ${major})`];
      return [whole(ms.median), spread(ms), bare ? roundedUp(ms.median / bare.median) : ""];
    }),
  };
}

/** Megabytes at the peak of each; without GNU time, that they are not known. */
export function memoryTable(report, peaks) {
  const title = "Memory at its peak, in megabytes";
  const missing = "Not measured: GNU time is missing (Debian's package `time`).";
  if (!peaks) return { title, notes: [missing], columns: ["command"], rows: [] };
  return {
    title,
    notes: [`The resident set, as Linux counts it. Medians of ${report.rounds} rounds.`],
    ...linesOf(report, ["least to most"], ({ name }) => [
      whole(peaks[name].median),
      spread(peaks[name]),
    ]),
  };
}

/** The same commands as bars, on the newer Node where they run on one. */
export function bars(times) {
  const shown = [
    ["node -e 0", "node -e 0 (Node 24)"],
    ["lenden --version", "lenden --version (Node 24)"],
    ["stripe --version", "stripe --version (Node 24)"],
    ["resend --version", "resend --version (Node 24)"],
    ["curl, one call", "curl, the call of `methods`"],
    ["lenden methods", "lenden methods (Node 24)"],
    ["stripe get", "stripe get /v1/charges (Node 24)"],
    ["resend domains list", "resend domains list (Node 24)"],
  ];
  return {
    title: "A command, in milliseconds (Node 24; shorter is better)",
    bars: shown
      .filter(([, name]) => times[name])
      .map(([label, name]) => ({ label, ours: label.startsWith("lenden"), ...times[name] })),
  };
}

function versionsOf({ sides }) {
  const told = sides.filter(({ version }) => version).map(({ version }) => version);
  return `Beside them: ${[...new Set(told)].join(", ") || "no other tool could be installed"}.`;
}

/** A line for each label. What runs on no Node of ours stands in the first Node's place. */
function linesOf({ sides, versions }, further, cellsOf) {
  const empty = ["", ...further.map(() => "")];
  const [first] = versions;
  const cellsFor = (label, major) => {
    const side = sides.find((one) => one.label === label && (one.major ?? first.major) === major);
    if (!side) return empty;
    return side.line ? cellsOf(side) : [`could not be installed: ${side.why}`, ...empty.slice(1)];
  };
  return {
    columns: ["command", ...versions.flatMap(({ says }) => [says, ...further])],
    rows: [...new Set(sides.map(({ label }) => label))].map((label) => [
      label,
      ...versions.flatMap(({ major }) => cellsFor(label, major)),
    ]),
  };
}
