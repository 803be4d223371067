import { entriesBelow } from "../../src/cli/command/table.ts";
import { helpText } from "../../src/cli/help/help.ts";
import { topics } from "../../src/cli/help/topics.ts";
import { entries } from "../../src/commands/index.ts";

/** A page of the manual: the name of its file, and its text for `man`. */
export interface ManPage {
  file: string;
  roff: string;
}

/** The text of a manual is indented by seven columns. */
const width = 73;

/**
 * The manual, made of the help as it is: `lenden.1` has the single commands and the topics, and each group
 * of commands has a page of its own. The build writes it.
 */
export async function manual(version: string): Promise<ManPage[]> {
  const groups = entries.filter(({ load }) => !load);
  // A command may have commands below it that have no page of their own.
  const single = entries.filter(
    ({ name, load }) => load && !groups.some((group) => name.startsWith(`${group.name} `)),
  );
  return [
    {
      file: "lenden.1",
      roff: [
        head("lenden", "collect payments, send payouts and issue refunds in BDT", version),
        await section("DESCRIPTION", ""),
        ...(await sections(single.map(({ name }) => name))),
        ...(await sections(topics.map(({ name }) => name))),
        seeAlso(groups.map(({ name }) => name)),
      ].join(""),
    },
    ...(await Promise.all(
      groups.map(async ({ name, summary }) => ({
        file: `${fileName(name)}.1`,
        roff: [
          head(fileName(name), summary.charAt(0).toLowerCase() + summary.slice(1), version),
          await section("DESCRIPTION", name),
          ...(await sections(
            entriesBelow(entries, name).flatMap((below) => (below.load ? [below.name] : [])),
          )),
          seeAlso([
            "",
            ...entriesBelow(entries, name).flatMap((below) => (below.load ? [] : [below.name])),
          ]),
        ].join(""),
      })),
    )),
  ];
}

function sections(paths: string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => section(`LENDEN ${path}`.toUpperCase(), path)));
}

async function section(title: string, path: string): Promise<string> {
  const text = await helpText(path, entries, { color: false, width });
  return `.SH "${roffText(title)}"\n.nf\n${text.trimEnd().split("\n").map(roffText).join("\n")}\n.fi\n`;
}

function head(title: string, summary: string, version: string): string {
  return `.TH ${title.toUpperCase()} 1 "" "lenden ${version}" "lenden"\n.SH NAME\n${roffText(title)} \\- ${roffText(summary)}\n`;
}

/** The other pages; an empty name is lenden itself. */
function seeAlso(names: string[]): string {
  const pages = names.map((one) => `.BR ${roffText(fileName(one))} (1)`);
  return `.SH "SEE ALSO"\n${pages.join(" ,\n")}\n`;
}

function fileName(path: string): string {
  return ["lenden", ...path.split(" ").filter(Boolean)].join("-");
}

/** A line that means itself: no macro, no escape, and a hyphen that can be copied into a shell. */
export function roffText(line: string): string {
  const escaped = line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll('"', "\\(dq")
    .replace(/[^\0-\x7f]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, "0")}]`;
    });
  return escaped.replace(/^\./, "\\&.");
}
