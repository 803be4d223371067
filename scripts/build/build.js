// Builds dist/. Prints nothing but warnings and errors, on stderr: `npm pack --json` runs it, too.
import { readFileSync } from "node:fs";

// 'npm ci' in a clone runs this first. Everything else is imported later, because an older Node cannot load it.
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const needed = manifest.engines.node.replace(">=", "");
if (isOlder(process.versions.node, needed)) {
  process.stderr.write(
    `lenden needs Node ${needed} or later, but Node ${process.versions.node} runs it.\n`,
  );
  process.exitCode = 1;
} else {
  const { build } = await import("rolldown");
  const { default: configs } = await import("./rolldown.config.js");
  // One after the other, because the first one empties the directory.
  for (const config of configs) await build(config);
}

/**
 * @param {string} version
 * @param {string} other
 */
function isOlder(version, other) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split(".").map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
