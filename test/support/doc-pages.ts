import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** Every page of the documentation, as a path from the root. */
export const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

export function readPage(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The programs of a page, by the file name that their first comment begins with. */
export function programsIn(page: string): Map<string, string> {
  const block = /^```\w+\n((?:<\?php\n|#!.*\n)?(?:\/\/|#) ([\w.-]+): .*?)^```$/gms;
  return new Map(
    [...readPage(page).matchAll(block)].map(([, text = "", name = ""]) => [name, text]),
  );
}

/** Writes the programs of a page into a directory. */
export function writePrograms(page: string, directory: string): void {
  for (const [name, text] of programsIn(page))
    writeFileSync(join(directory, name), text, { mode: 0o700 });
}

/** A line that a reader pastes into a shell. */
export interface ShellLine {
  page: string;
  number: number;
  text: string;
  /** 0, or what the comment above the line says: `# Exit 75: …`. */
  exit: number;
  /** True if the comment above tells the reader to stop the servers of other terminals with Ctrl-C. */
  stopsServers: boolean;
}

/**
 * The shell lines of a page: all of a block `sh`, and of any other block those that run lenden, such as
 * `run: lenden …` of a CI configuration.
 */
export function shellLines(page: string): ShellLine[] {
  const lines: ShellLine[] = [];
  let language: string | undefined;
  let comment = "";
  for (const [index, line] of readPage(page).split("\n").entries()) {
    const [fence, opened] = /^```(\w*)/.exec(line) ?? [];
    if (fence !== undefined) {
      language = language === undefined ? opened : undefined;
      comment = "";
    } else if (language === "sh" && line.startsWith("#")) {
      comment = line;
    } else if (language !== undefined) {
      const [, run] = /^\s*(?:- )?(?:run: )?(lenden .*)$/.exec(line) ?? [];
      const text = language === "sh" ? line : run;
      if (text === undefined) continue;
      const [, exit = "0"] = /\bexit (\d+)/i.exec(comment) ?? [];
      const stopsServers = comment.includes("Ctrl-C");
      lines.push({ page, number: index + 1, text, exit: Number(exit), stopsServers });
      comment = "";
    }
  }
  return lines;
}

/** The commands of lenden in a shell line, each without what the shell does with it. */
export function commandsIn(text: string): string[] {
  const plain = text.replaceAll(/'[^']*'|"[^"]*"/g, (quoted) =>
    quoted.replaceAll(/[|;&<>()]/g, "_"),
  );
  return [...plain.matchAll(/(?:^|[|;&(] *|-- |[A-Z_]+=\S* )lenden ([^|;&<>()]+)/g)].map(
    ({ 0: match, 1: words = "", index }) => {
      const start = index + match.length - words.length;
      return text.slice(start, start + words.length).trim();
    },
  );
}
