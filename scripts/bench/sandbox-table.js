// What was measured of the sandbox, as a table and as bars.
import { cut, roundedUp, spread, verdict, whole } from "./figures.js";

const servers = {
  bare: { name: "a bare `node:http` server", label: "bare node:http" },
  lenden: { name: "`lenden sandbox start`", label: "lenden sandbox" },
  prism: { name: "`prism mock`", label: "Prism" },
};

/** Requests per second of each server, and what that is of the others'. */
export function sandboxTable(measured) {
  const { kind, figures, rounds, prism } = measured;
  const against = figures.prism
    ? `Prism ${prism.version} runs without its log; it checks no signature and keeps nothing. lenden's sandbox answers ${cut(timesPrism(figures))} times as often.`
    : `Prism could not be installed: ${prism.why}.`;
  return {
    title: `The local sandbox: ${kind.title}`,
    notes: [
      `Requests a second, 32 connections (autocannon), medians of ${rounds} rounds side by side; client and server share the machine's cores.`,
      against,
    ],
    columns: ["server", "a second", "least to most", "of the bare server", ...costs, "aim"],
    rows: measuredOf(figures).map((server) => rowOf(server, measured)),
    figures,
    bars: {
      title: `Local sandbox, requests a second: ${kind.title} (longer is better)`,
      bars: measuredOf(figures).map((server) => ({
        label: servers[server].label,
        ours: server === "lenden",
        ...figures[server],
      })),
    },
  };
}

const costs = ["µs of processor each", "memory, MB"];

/** The same without what asks. */
export function notMeasured(why) {
  const notes = [`Not measured: autocannon could not be installed (${why}).`];
  return { title: "The local sandbox", notes, columns: ["server"], rows: [] };
}

function measuredOf(figures) {
  return Object.keys(servers).filter((server) => figures[server]);
}

function rowOf(server, { kind, figures, megabytes }) {
  const isOurs = server === "lenden";
  const ratio = figures[server].median / figures.bare.median;
  return [
    servers[server].name,
    whole(figures[server].median),
    spread(figures[server]),
    (isOurs ? cut : roundedUp)(ratio),
    whole(figures[`${server}, processor`].median),
    whole(megabytes[server]),
    isOurs ? aimsOf(kind, figures, ratio) : "",
  ];
}

function aimsOf({ leastOfBare, leastOfPrism }, figures, ofBare) {
  return [
    leastOfBare && `at least ${leastOfBare} of the bare server: ${verdict(ofBare >= leastOfBare)}`,
    figures.prism &&
      `at least ${leastOfPrism} times Prism: ${verdict(timesPrism(figures) >= leastOfPrism)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

function timesPrism({ lenden, prism }) {
  return lenden.median / prism.median;
}
