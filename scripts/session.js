// Draws docs/images/session.svg: a terminal session with the built tool and a temporary sandbox.
//
//   npm run build && npm run session
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

/** The color and style codes of a terminal. */
const codes = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`, "g");
const root = resolve(import.meta.dirname, "..");
const launcher = join(root, "bin/lenden.js");
const payout = "--to 01712345678 --method bkash --ref INV-7";
const commands = [
  ["# Send a payout", `lenden payout send --amount 500 ${payout}`],
  ["# Send it again: no second payout is created", `lenden payout send --amount 500 ${payout}`],
  ["# The same reference for another amount", `lenden payout send --amount 600 ${payout}`],
];

const home = mkdtempSync(join(tmpdir(), "lenden-session-"));
const env = { PATH: process.env.PATH, HOME: home, TZ: "Asia/Dhaka" };
const sandbox = spawn(process.execPath, [launcher, "sandbox", "start", "--port", "0", "--json"], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  await once(createInterface({ input: sandbox.stdout }), "line");
  const lines = commands.flatMap(([comment, command]) => [
    `\u001b[90m${comment}\u001b[39m`,
    `\u001b[32m$\u001b[39m ${command}`,
    ...outputOf(command ?? ""),
    "",
  ]);
  writeFileSync(join(root, "docs/images/session.svg"), svg(lines.slice(0, -1)));
} finally {
  sandbox.kill();
  await once(sandbox, "exit");
  rmSync(home, { recursive: true });
}

/**
 * What a terminal shows of a command: stdout and stderr.
 *
 * @param {string} command
 */
function outputOf(command) {
  const line = command.replace("lenden", `'${process.execPath}' '${launcher}' --color always`);
  const { stdout } = spawnSync("sh", ["-c", `exec 2>&1; ${line}`], { env, encoding: "utf8" });
  return stdout.trimEnd().split("\n");
}

/** @param {string[]} lines */
function svg(lines) {
  const [column, row, margin] = [8.4, 19, 20];
  const longest = Math.max(...lines.map((line) => line.replaceAll(codes, "").length));
  const width = Math.ceil(longest * column + 2 * margin);
  const height = lines.length * row + 3 * margin;
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (color, index) => `<circle cx="${margin + index * 18}" cy="18" r="5.5" fill="${color}"/>`,
  );
  const texts = lines.map(
    (line, index) => `<text x="${margin}" y="${2.6 * margin + index * row}">${spans(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    "<title>A terminal session with lenden</title>",
    `<style>text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #e6e6e6; white-space: pre; }</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#1e1f29"/>`,
    ...dots,
    ...texts,
    "</svg>\n",
  ].join("\n");
}

/**
 * A line with the codes of a terminal as elements of SVG.
 *
 * @param {string} line
 */
function spans(line) {
  const styles = new Map([
    ["1", 'font-weight="bold"'],
    ["2", 'opacity="0.6"'],
    ["31", 'fill="#ff6e67"'],
    ["32", 'fill="#5af78e"'],
    ["33", 'fill="#f3f99d"'],
    ["36", 'fill="#9aedfe"'],
    ["90", 'fill="#8d91a5"'],
  ]);
  let style = "";
  return line
    .split(codes)
    .map((part, index) => {
      if (index % 2 === 1) {
        style = styles.get(part) ?? "";
        return "";
      }
      const text = part.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
      return text === "" ? "" : `<tspan ${style}>${text}</tspan>`.replace("<tspan >", "<tspan>");
    })
    .join("");
}
