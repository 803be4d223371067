// The entry of lenden as a single file: the program, with the files of the package inside.
import { getAsset } from "node:sea";
import { main, processHost } from "../../src/main.ts";
import type { Parts } from "../../src/platform/host.ts";

/** There is no keychain: its native addon would have to be loaded from the disk. */
const parts: Parts = {
  shipped: (file) => getAsset(file, "utf8"),
  keepsCompiled: false,
};

async function start(argv: string[]): Promise<void> {
  process.exitCode = await main(argv, processHost(parts));
  // As in bin/lenden.js: without its terminal, Node aborts, so lenden ends by the signal itself.
  if (process.exitCode === 129) process.kill(process.pid, "SIGHUP");
}

start(process.argv.slice(2));
