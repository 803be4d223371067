// What was measured of the sandbox, as a table and as bars.
import { cut, spread, verdict, whole } from "./figures.js";

const names = {
  bare: "a bare `node:http` server",
  lenden: "`lenden sandbox start`",
  prism: "`prism mock`",
};

/** Requests per second of each server, and what that is of the others'. */
export function sandboxTable({ kind, figures, rounds, prism, megabytes }) {
  const ours = figures.lenden.median;
  const [ofBare, ofPrism] = [figures.bare, figures.prism].map(
    (other) => other && ours / other.median,
  );
  const aims = [
    kind.leastOfBare &&
      `at least ${kind.leastOfBare} of the bare server: ${verdict(ofBare >= kind.leastOfBare)}`,
    ofPrism &&
      `at least ${kind.leastOfPrism} times Prism: ${verdict(ofPrism >= kind.leastOfPrism)}`,
  ];
  const row = (name) => {
    if (!figures[name])
      return [names[name], `could not be installed: ${prism.why}`, "", "", "", "", ""];
    const rate = figures[name];
    return [
      names[name],
      whole(rate.median),
      spread(rate),
      cut(rate.median / figures.bare.median),
      whole(figures[`${name}, processor`].median),
      whole(megabytes[name]),
      name === "lenden" ? aims.filter(Boolean).join("; ") : "",
    ];
  };
  return {
    title: `The local sandbox: ${kind.title}`,
    notes: [
      `Requests a second, 32 connections (autocannon), medians of ${rounds} rounds side by side; client and server share the machine's cores.`,
      ofPrism
        ? `Against Prism ${prism.version}, which runs without its log and keeps nothing: ${cut(ofPrism)} times.`
        : "",
    ].filter(Boolean),
    columns: [
      "server",
      "a second",
      "least to most",
      "of the bare server",
      "µs of processor each",
      "memory, MB",
      "aim",
    ],
    rows: Object.keys(names).map(row),
    figures,
    bars: {
      title: `Local sandbox, requests a second: ${kind.title} (longer is better)`,
      bars: Object.keys(names)
        .filter((name) => figures[name])
        .map((name) => ({ label: labels[name], ours: name === "lenden", ...figures[name] })),
    },
  };
}

const labels = { bare: "bare node:http", lenden: "lenden sandbox", prism: "Prism" };

/** The same without what asks. */
export function notMeasured(why) {
  const notes = [`Not measured: autocannon could not be installed (${why}).`];
  return { title: "The local sandbox", notes, columns: ["server"], rows: [] };
}
