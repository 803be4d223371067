import { readFileSync } from "node:fs";
import type { Host } from "./host.ts";

export { processHost } from "./host.ts";

/** argv and a host in, an exit code out. The version alone needs nothing of what follows. */
export async function main(argv: string[], host: Host): Promise<number> {
  if (argv.length === 1 && argv[0] === "--version") {
    host.stdout.write(`${ownVersion()}\n`);
    return 0;
  }
  const { run } = await import("./program/run.ts");
  return run(argv, host, ownVersion());
}

/** From package.json, which lies one folder up from the source and from the bundle alike. */
function ownVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? "unknown";
}
