import { entries } from "./commands/index.ts";
import { enableCompileCache, type Host } from "./platform/host.ts";

export { processHost } from "./platform/host.ts";

/** Runs one command line and returns its exit code. */
export async function main(argv: string[], host: Host): Promise<number> {
  // Node 20 has no compile cache, and to look for it takes a millisecond.
  if (host.keepsCompiled && !host.nodeVersion.startsWith("v20."))
    enableCompileCache(host.folders.cache);
  const [first, ...others] = argv;
  if (first === "__complete") {
    const { complete } = await import("./cli/completion/complete.ts");
    host.lastOutput.write(await complete(others, host, entries));
    return 0;
  }
  const { run } = await import("./cli/runtime/run.ts");
  return run(argv, entries, host, versionOf(host));
}

function versionOf({ shipped }: Host): string {
  return /"version": "([^"]+)"/.exec(shipped("package.json"))?.[1] ?? "unknown";
}
