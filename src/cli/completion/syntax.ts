import type { Shell } from "../../commands/completion-places.ts";
import type { Entry, Tables } from "./tables.ts";

/** How the tables are written in a shell's own language. */
interface Syntax {
  /** One variable: a list of texts. */
  list(name: string, texts: string[]): string[];
  /** An entry of such a list; a shell that shows no descriptions leaves them out. */
  entry(entry: Entry): string;
  everywhere: string;
  before: string[];
  open(path: string): string;
  close: string[];
  after: string[];
  /** How far the lists of a place are indented. */
  indent: string;
}

/** The tables as a shell reads them. */
export function written({ everywhere, places }: Tables, shell: Shell): string {
  const { list, entry, indent, ...syntax } = syntaxes[shell];
  const listed = (name: string, texts: string[]) =>
    texts.length === 0 ? [] : list(name, texts).map((line) => indent + line);
  return [
    ...list(syntax.everywhere, everywhere.map(entry)),
    "",
    ...syntax.before,
    ...places.flatMap(({ path, members, flags, operands }) => {
      const lines = [
        ...listed("members", members.map(entry)),
        ...listed("flags", flags.map(entry)),
        ...listed("operands", operands),
      ];
      return lines.length === 0 ? [] : [syntax.open(path), ...lines, ...syntax.close];
    }),
    ...syntax.after,
  ].join("\n");
}

/** The name comes first: a shell splits it off at the first space. */
function described({ name, about }: Entry): string {
  return `${name} ${about}`;
}

function inSh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function inFish(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}

function inPowershell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const syntaxes: Record<Shell, Syntax> = {
  bash: {
    list: (name, texts) => [`${name}=${inSh(texts.join(" "))}`],
    entry: ({ name }) => name,
    everywhere: "_lenden_everywhere",
    before: ["_lenden_known() {", "  members='' flags='' operands=''", "  case $1 in"],
    open: (path) => `    ${inSh(path)})`,
    close: ["      ;;"],
    after: ["  esac", "}"],
    indent: "      ",
  },
  zsh: {
    list: (name, texts) => [`${name}=(`, ...texts.map((one) => `  ${inSh(one)}`), ")"],
    entry: described,
    everywhere: "_lenden_everywhere",
    before: ["_lenden_known() {", "  members=() flags=() operands=()", "  case $1 in"],
    open: (path) => `    (${inSh(path)})`,
    close: ["      ;;"],
    after: ["  esac", "}"],
    indent: "      ",
  },
  fish: {
    list: (name, texts) => [
      `set ${name} \\`,
      ...texts.map((one, index) => `    ${inFish(one)}${index < texts.length - 1 ? " \\" : ""}`),
    ],
    entry: described,
    everywhere: "-g __lenden_everywhere",
    before: [
      "function __lenden_known --no-scope-shadowing",
      "    set members",
      "    set flags",
      "    set operands",
      "    switch $argv[1]",
    ],
    open: (path) => `        case ${inFish(path)}`,
    close: [],
    after: ["    end", "end"],
    indent: "            ",
  },
  powershell: {
    list: (name, texts) => [`${name} = @(`, ...texts.map((one) => `    ${inPowershell(one)}`), ")"],
    entry: described,
    everywhere: "$global:LendenEverywhere",
    before: ["$global:LendenPlaces = @{"],
    open: (path) => `    ${inPowershell(path)} = @{`,
    close: ["    }"],
    after: ["}"],
    indent: "        ",
  },
};
