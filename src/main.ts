import { readFileSync } from "node:fs";
import type { Host } from "./host.ts";
import { readyHelp } from "./program/help/ready.ts";

export { processHost } from "./host.ts";

/** argv and a host in, an exit code out. The version and the help need nothing of what follows. */
export async function main(argv: string[], host: Host): Promise<number> {
  const isVersion = argv.length === 1 && argv[0] === "--version";
  const ready = isVersion ? `${ownVersion()}\n` : readyHelp(argv, host);
  if (ready !== undefined) {
    host.lastOutput.write(ready);
    return 0;
  }
  if (host.folders.cache !== undefined) {
    const { keepCompiled } = await import("./program/compiled.ts");
    keepCompiled(host.folders.cache, host);
  }
  const { run } = await import("./program/run.ts");
  return run(argv, host, ownVersion());
}

/** From package.json, which lies one folder up from the source and from the bundle alike. */
function ownVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? "unknown";
}
