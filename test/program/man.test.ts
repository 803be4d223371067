import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { manual } from "../../src/cli/help/man.ts";
import { text as toBlock } from "../../src/cli/help/page.ts";
import { manSection, roffText } from "../../src/cli/help/roff.ts";
import { commands } from "../../src/commands/index.ts";
import { lenden } from "../run.ts";

const root = resolve(import.meta.dirname, "../..");
const manifest: { version: string; man: string[]; files: string[] } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const pages = await manual(commands, manifest.version);

// `npm run man` writes them anew.
test.each(pages)("man/$file is what the help makes of it", async ({ file, roff }) => {
  await expect(roff).toMatchFileSnapshot(join(root, "man", file));
});

test("all of them are shipped, and no others", () => {
  const files = pages.map(({ file }) => `man/${file}`).sort();
  expect(
    readdirSync(join(root, "man"))
      .map((name) => `man/${name}`)
      .sort(),
  ).toEqual(files);
  expect(manifest.man.map((path) => path.replace(/^\.\//, "")).sort()).toEqual(files);
  expect(manifest.files).toContain("man");
});

test("every command and every flag has its place in them", () => {
  const all = pages.map(({ roff }) => roff).join("");
  for (const { name, flags } of commands) {
    expect(all).toContain(`\n.SH ${roffText(`lenden ${name}`.toUpperCase())}\n`);
    for (const { usage } of Object.values(flags)) expect(all).toContain(roffText(usage));
  }
});

describe.skipIf(!has("groff"))("with groff", () => {
  test.each(pages)("$file is written without a mistake", ({ roff }) => {
    const { stderr } = tool("groff", ["-man", "-ww", "-z", "-Tutf8"], roff);
    expect(stderr).toBe("");
  });

  test("a text means itself, whatever is in it", () => {
    const texts = [
      ".PP",
      "'br",
      "\\fBx\\fR \\n(.x",
      "--flag 'x' `y` ^~\"",
      "৳500 … é",
      "...",
      "\\",
    ];
    const page = texts.map((one) => toBlock(one));
    const input = `.TH X 1\n${manSection("X", page)}`;
    const { stdout, stderr } = tool("groff", ["-man", "-Tutf8", "-P-cbou"], input);
    expect(stderr).toBe("");
    // Debian's `man` shows the minus as the ASCII one, plain groff as the typographic one.
    const lines = stdout.replaceAll("\u2212", "-").split("\n");
    expect(lines).toEqual(expect.arrayContaining(texts.map((one) => `       ${one}`)));
  });

  test("shows what the help shows", async () => {
    const refund = pages.find(({ file }) => file === "lenden-refund.1")?.roff ?? "";
    const { stdout } = tool("groff", ["-man", "-Tascii", "-P-cbou"], refund);
    const words = (text: string) => text.replace(/[\\\s]+/g, "");
    const { stdout: help } = await lenden(["refund", "create", "--help"]);
    for (const line of help.split("\n")) expect(words(stdout)).toContain(words(line));
  });
});

describe.skipIf(!has("mandoc"))("with mandoc", () => {
  test.each(pages)("$file is written without a mistake", ({ roff }) => {
    const { stdout } = tool("mandoc", ["-Tlint", "-Wwarning"], roff);
    // Without a date on purpose: it would change a page in which nothing changed.
    expect(stdout.split("\n").filter((line) => line && !/missing date/.test(line))).toEqual([]);
  });
});

function has(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function tool(program: string, args: string[], input: string): { stdout: string; stderr: string } {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", input });
  if (error) throw error;
  return { stdout, stderr };
}
