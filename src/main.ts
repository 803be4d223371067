import type { Host } from "./host.ts";

export { processHost } from "./host.ts";

/** argv and a host in, an exit code out. The version alone needs nothing of what follows. */
export async function main(argv: string[], host: Host): Promise<number> {
  if (argv.length === 1 && argv[0] === "--version") {
    host.stdout.write(`${versionOf(host)}\n`);
    return 0;
  }
  const { run } = await import("./program/run.ts");
  return run(argv, host, versionOf(host));
}

function versionOf({ shipped }: Host): string {
  return /"version": "([^"]+)"/.exec(shipped("package.json"))?.[1] ?? "unknown";
}
