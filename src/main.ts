import { readyHelp } from "./cli/help/ready.ts";
import type { Host } from "./platform/host.ts";

export { processHost } from "./platform/host.ts";

/** argv and a host in, an exit code out. The version and the help need nothing of what follows. */
export async function main(argv: string[], host: Host): Promise<number> {
  const isVersion = argv.length === 1 && argv[0] === "--version";
  const ready = isVersion ? `${versionOf(host)}\n` : readyHelp(argv, host);
  if (ready !== undefined && host.lastOutput.write(ready)) return 0;
  if (host.keepsCompiled) {
    const { enableCompileCache } = await import("./cli/runtime/compile-cache.ts");
    enableCompileCache(host.folders.cache);
  }
  const { run } = await import("./cli/runtime/run.ts");
  return run(argv, host, versionOf(host));
}

function versionOf({ shipped }: Host): string {
  return /"version": "([^"]+)"/.exec(shipped("package.json"))?.[1] ?? "unknown";
}
