// Tools that others made, and other Nodes: installed from the registry into a folder of their own,
// never into this project. With LENDEN_BENCH_DIR they stay there for the next run.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./commands.js";

const home = process.env.LENDEN_BENCH_DIR ?? join(scratch, "others");

/**
 * A package as npm gives it to people on this Node: its folder of commands, or why it is not to be
 * had. npm takes the newest version that says it runs on the Node that runs npm.
 */
export function installed(name, node = process.execPath) {
  const folder = join(home, `${name.replace(/\W+/g, "-")}-${versionOf(node)}`);
  const modules = join(folder, "node_modules");
  const about = join(modules, name, "package.json");
  if (!existsSync(about)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    const line = [npm(), "install", "--no-audit", "--no-fund", "--loglevel=error", name];
    const { status, stderr } = spawnSync(node, line, { cwd: folder, encoding: "utf8" });
    if (status !== 0 || !existsSync(about))
      return { why: oneLine(stderr || `npm ended ${status}`) };
  }
  const { version } = JSON.parse(readFileSync(about, "utf8"));
  return { version, modules, bin: (command) => join(modules, ".bin", command) };
}

/** The program of a Node of this major version: this one, or the registry's. */
export function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return { path: process.execPath };
  const line = ["-y", "--loglevel=error", "-p", `node@${major}`, "node", "-p", "process.execPath"];
  const { status, stdout, stderr } = spawnSync("npx", line, { cwd: scratch, encoding: "utf8" });
  return status === 0 ? { path: stdout.trim() } : { why: oneLine(stderr) };
}

/** As it says itself, without the v. */
export function versionOf(node) {
  return execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).trim();
}

/** npm's own program, to be run by the Node that a package is for. */
function npm() {
  const found = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  return realpathSync(found);
}

function oneLine(text) {
  return text.trim().split("\n").at(0)?.slice(0, 120) ?? "";
}
