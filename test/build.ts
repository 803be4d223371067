import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

/** Builds the tool, so that no test runs an old one. */
export default function build(): void {
  const script = resolve(import.meta.dirname, "../scripts/build/build.js");
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}
