// Other tools, and other versions of Node: installed from the registry into a separate directory,
// never into this project. LENDEN_BENCH_DIR names one to reuse.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment, output, scratch } from "./measure.js";

const home = process.env.LENDEN_BENCH_DIR ?? join(scratch, "tools");

/** npm needs its own configuration, such as the registry of this machine. */
const npmEnv = { env: process.env };

/** Installs a package in the newest version that supports this Node. @param {string} name */
export function installed(name, node = process.execPath) {
  const directory = join(home, `${name.replace(/\W+/g, "-")}-${versionOf(node)}`);
  const modules = join(directory, "node_modules");
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "package.json"), "{}");
    const npm = realpathSync(output(["sh", "-c", "command -v npm"]).trim());
    const options = ["--no-audit", "--no-fund", "--loglevel=error", "--prefix", directory];
    output([node, npm, "install", ...options, name], npmEnv);
  }
  /** @type {{ version: string }} */
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const bin = (/** @type {string} */ command) => join(modules, ".bin", command);
  return { version, modules, bin };
}

/** The program of the newest release of a major version of Node. @param {number} major */
export function nodeOf(major) {
  // The package "node" is weeks behind.
  const name = `node-${process.platform}-${process.arch}@${major}`;
  const line = ["npx", "-y", "-p", name, "node", "-p", "process.execPath"];
  return output(line, npmEnv).trim();
}

/** @param {string} node */
export function versionOf(node) {
  return output([node, "-p", "process.versions.node"]).trim();
}

/**
 * `stripe get` against the fake API, without telemetry and without a look for updates.
 *
 * @param {string} node
 * @param {string} baseUrl
 */
export function stripeGet(node, baseUrl) {
  const { version, bin } = installed("@stripe/cli", node);
  const account = ["--api-base", new URL(baseUrl).origin, "--api-key", "sk_test_1234567890abcdef"];
  return {
    version,
    line: [node, bin("stripe"), "get", "/v1/charges", ...account],
    env: {
      ...environment(join(scratch, "stripe")),
      STRIPE_CLI_TELEMETRY_OPTOUT: "1",
      STRIPE_NO_AUTO_UPDATE: "1",
    },
  };
}
