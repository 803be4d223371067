import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const script = resolve(import.meta.dirname, "../scripts/check-language.js");

/** Each term with its better word. They are in a fixture, which the check does not read. */
const terms = readFileSync(join(import.meta.dirname, "fixtures/language/terms.tsv"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"))
  .map(([word = "", better = ""]) => ({ word, better }));

/** Source text of the terms below, which a regular expression keeps out of this file's own count. */
const { source: mend } = /mend/;
const { source: anew } = /anew/;
const { source: doubt } = /doubt/;

describe("the language check", () => {
  test("finds every term in strings, templates, comments, test titles, types and keys", () => {
    const { write, check } = repository();
    const places: [string, (word: string) => string][] = [
      ["src/a.ts", (word) => `export const a = "Now ${word}.";`],
      ["src/b.ts", (word) => `export const a = \`\${1} ${word} \${/\`/}\`;`],
      ["src/c.js", (word) => `f(); // Now ${word}.`],
      ["src/d.cjs", (word) => `/** Now ${word}. */`],
      ["src/e.test.ts", (word) => `test("is ${word}", () => {});`],
      ["src/f.ts", (word) => `export type A = "${word}" | "b";`],
      ["src/g.ts", (word) => `export const a = { "${word}": 1 };`],
    ];
    for (const [path, code] of places) {
      write(path, terms.map(({ word }) => `${code(word)}\n`).join("f();\n"));
    }

    const { exitCode, stderr } = check();

    expect(exitCode).toBe(1);
    const found = places.flatMap(([path]) =>
      terms.map(({ word, better }, at) => `${path}:${at * 2 + 1}: "${word}": use ${better}`),
    );
    expect(stderr.split("\n")).toEqual([...found, ""]);
  });

  test("finds every term in documents and shell scripts, whatever its case", () => {
    const { write, check } = repository();
    const paths = ["README.md", "docs/batch.md", "test/run.sh"];
    const text = terms.map(({ word }) => `Now ${word.toUpperCase()}.\n`).join("");
    for (const path of paths) write(path, text);

    const { stderr } = check();

    for (const path of paths) {
      for (const [at, { word }] of terms.entries()) {
        expect(stderr).toContain(`${path}:${at + 1}: "${word.toUpperCase()}": use `);
      }
    }
  });

  test("finds a term over a line break", () => {
    const { write, check } = repository();
    const broken = [
      `// now in\n// ${doubt}\n`,
      `/**\n * now in\n *   ${doubt}\n */\n`,
      `export const a = \`now in\n  ${doubt}\`;\n`,
      String.raw`export const a = "now in\n${doubt}";`,
      `export const a = "now in " +\n  "${doubt}";\n`,
    ];
    for (const [at, code] of broken.entries()) write(`src/${at}.ts`, code);
    write("README.md", `now in\n${doubt}\n`);

    const { stderr } = check();

    for (const path of ["README.md", ...broken.map((_, at) => `src/${at}.ts`)]) {
      expect(stderr).toMatch(new RegExp(`^${path}:\\d: `, "m"));
    }
  });

  test("counts no names, regular expressions, import paths or parts of words", () => {
    const { write, check } = repository();
    write("src/a.ts", `import { ${mend} } from "./${anew}.ts";\n`);
    write("src/b.ts", `export const ${mend} = (a: string) => /${mend}|"${mend}"/.test(a);\n`);
    write("src/c.ts", `export const ${anew}_at = "re${mend} ${anew}_at"; // am${mend}s\n`);
    write("src/d.ts", `// A comment must not end in\nexport const doubt = "in"; // doubt\n`);
    write("test/fixtures/a.ts", `// ${mend}\n`);
    write("test/__snapshots__/a.ts", `// ${mend}\n`);
    write("man/a.1", mend);

    expect(check()).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("the check of commit subjects", () => {
  test("accepts an area, an imperative and an object", () => {
    const { commit, check } = repository();
    commit("batch: reject changed files on resume");
    commit("ledger/batches, batch: embed the plan");
    commit("http: bring back the retry");
    commit("payout send: process one reference at a time");
    commit(`payouts: move ${"x".repeat(46)}`);
    expect(check()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("rejects subjects in another form", () => {
    const { commit, check } = repository();
    const wrong = {
      "Reject changed files": `write "area: verb object"`,
      "batch: Reject changed files": `write "area: verb object"`,
      "batch: reject": `write "area: verb object"`,
      "batch: reject changed files.": "remove the period at the end",
      "batch: rejected changed files": `"rejected" is not an imperative`,
      "batch: rejecting changed files": `"rejecting" is not an imperative`,
      "batch: rejects changed files": `"rejects" is not an imperative`,
      [`batch: reject files ${anew}`]: `"${anew}": use again, new`,
      [`payouts: move ${"x".repeat(47)}`]: "61 characters, at most 60 are allowed",
    };
    for (const subject of Object.keys(wrong)) commit(subject);

    const { exitCode, stderr } = check();

    expect(exitCode).toBe(1);
    for (const [subject, problem] of Object.entries(wrong)) {
      expect(stderr).toContain(`"${subject}": ${problem}`);
    }
    expect(stderr.trimEnd().split("\n")).toHaveLength(Object.keys(wrong).length);
  });
});

/** A git repository of one commit in a temporary directory, and the check run in it. */
function repository() {
  const root = mkdtempSync(join(tmpdir(), "lenden-language-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], {
      cwd: root,
    });
  const commit = (subject: string) => {
    run("add", "--all");
    run("commit", "-q", "--allow-empty", "-m", subject);
  };
  run("init", "-q", "-b", "main");
  mkdirSync(join(root, "scripts"));
  commit("build: add a repository");
  return {
    run,
    commit,
    write(path: string, text: string) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    check() {
      const { status, stderr } = spawnSync(process.execPath, [script], {
        cwd: root,
        encoding: "utf8",
      });
      return { exitCode: status, stderr };
    },
  };
}
