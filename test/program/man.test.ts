import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { manual, roffText } from "../../scripts/build/man.ts";
import { loadCommands } from "../../src/cli/command/table.ts";
import { entries } from "../../src/commands/index.ts";
import { lenden } from "../support/lenden.ts";

const root = resolve(import.meta.dirname, "../..");
const manifest: { version: string; man: string[]; files: string[] } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const pages = await manual(manifest.version);

test("the build writes all pages, and the package names them", () => {
  for (const { file, roff } of pages)
    expect(readFileSync(join(root, "man", file), "utf8")).toBe(roff);
  expect(manifest.man.toSorted()).toEqual(pages.map(({ file }) => `man/${file}`).toSorted());
  expect(manifest.files).toContain("man");
});

test("every command has its section", async () => {
  const all = pages.map(({ roff }) => roff).join("");
  for (const { name } of await loadCommands(entries))
    expect(all).toContain(`\n.SH "${roffText(`LENDEN ${name}`.toUpperCase())}"\n`);
});

describe.skipIf(!has("groff"))("with groff", () => {
  test.each(pages)("$file has no mistake", ({ roff }) => {
    expect(rendered("groff", ["-man", "-ww", "-z", "-Tutf8"], roff).stderr).toBe("");
  });

  test("every text is shown unchanged", () => {
    const texts = [
      ".PP",
      "'br",
      "\\fBx\\fR \\n(.x",
      "--flag 'x' `y` ^~\"",
      "৳500 … é",
      "...",
      "\\",
    ];
    const page = `.TH X 1\n.SH X\n.nf\n${texts.map(roffText).join("\n")}\n.fi\n`;
    const { stdout, stderr } = rendered("groff", ["-man", "-Tutf8", "-P-cbou"], page);
    expect(stderr).toBe("");
    // Debian's `man` shows the minus as the ASCII one, plain groff as the typographic one.
    const lines = stdout.replaceAll("\u2212", "-").split("\n");
    expect(lines).toEqual(expect.arrayContaining(texts.map((one) => `       ${one}`)));
  });

  test("shows what the help shows", async () => {
    const refund = pages.find(({ file }) => file === "lenden-refund.1")?.roff ?? "";
    const { stdout } = rendered("groff", ["-man", "-Tascii", "-P-cbou"], refund);
    const help = (await lenden(["refund", "create", "--help"])).stdout;
    expect(stdout.replace(/\s+/g, " ")).toContain(help.trim().replace(/\s+/g, " "));
  });
});

describe.skipIf(!has("mandoc"))("with mandoc", () => {
  test.each(pages)("$file has no mistake", ({ roff }) => {
    const { stdout } = rendered("mandoc", ["-Tlint", "-Wwarning"], roff);
    // Without a date: it would change a page in which nothing changed.
    expect(stdout.split("\n").filter((line) => line && !/missing date/.test(line))).toEqual([]);
  });
});

function has(program: string): boolean {
  return spawnSync(program, ["--version"]).error === undefined;
}

function rendered(program: string, args: string[], input: string) {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", input });
  if (error) throw error;
  return { stdout, stderr };
}
