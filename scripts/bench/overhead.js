// What every kind of command costs beside the time that its calls are on the wire: the whole run of
// the process, less what the loopback sandbox says it was busy with the requests of that run.
import { once } from "node:events";
import { join } from "node:path";
import { launcher, scratch, startSandbox, surroundings, timed } from "./commands.js";
import { spread, summaries, whole } from "./figures.js";
import { prepareCommands } from "./overhead-commands.js";
import { sideBySide } from "./rounds.js";

/** The section of the report on each command's own time. */
export async function measureCommands({ rounds }) {
  const sandbox = await startSandbox({
    flags: ["--require", join(import.meta.dirname, "wire.cjs")],
    stdio: ["ignore", "pipe", "ignore", "ipc"],
  });
  const folder = join(scratch, "commands");
  const env = surroundings(folder, sandbox.account);
  const kinds = await prepareCommands(sandbox, { env, folder, runs: rounds + 1 });
  const bare = { name: bareNode, run: () => timed([process.execPath, "-e", "0"], env) };
  const sides = [bare, ...kinds.map((kind) => sideOf(kind, sandbox, env))];
  const figures = summaries(await sideBySide(sides, { rounds, what: "commands" }));
  sandbox.stop();
  return [table(kinds, figures, rounds)];
}

function sideOf({ name, words }, sandbox, env) {
  const run = async (round) => {
    await onTheWire(sandbox);
    const ms = timed([process.execPath, launcher, ...words(round + 1)], env, ends);
    const { calls, ms: wireMs } = await onTheWire(sandbox);
    return {
      [`${name}, whole`]: ms,
      [`${name}, wire`]: wireMs,
      [`${name}, own`]: ms - wireMs,
      [`${name}, calls`]: calls,
    };
  };
  return { name, run };
}

/** A refund that still is Processing when the wait ran out is 8. */
const ends = [0, 8];

const bareNode = "node -e 0";

/** What the sandbox was busy with since this was last asked. */
async function onTheWire({ child }) {
  child.send("tell");
  const [seen] = await once(child, "message");
  return seen;
}

function table(kinds, figures, rounds) {
  const start = figures[bareNode].median;
  return {
    title: "Every command beside its network time, in milliseconds",
    notes: [
      `Node ${process.versions.node}, medians of ${rounds} rounds. "On the wire" is what the local sandbox counted for the run's requests, from a request's head to the end of its answer. Opening a connection, the way through the loopback and everything else count as lenden's own. A bare Node starts in ${whole(start)} ms (${spread(figures[bareNode])}); the last column is what lenden's own adds to that.`,
    ],
    columns: [
      "command",
      "calls",
      "whole",
      "least to most",
      "on the wire",
      "lenden's own",
      "beyond bare Node",
    ],
    rows: kinds.map(({ name }) => {
      const of = (what) => figures[`${name}, ${what}`];
      return [
        `\`${name}\``,
        String(of("calls").median),
        whole(of("whole").median),
        spread(of("whole")),
        of("wire").median.toFixed(1),
        whole(of("own").median),
        whole(of("own").median - start),
      ];
    }),
    figures,
  };
}
