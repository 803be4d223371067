import { groups } from "../../commands/groups.ts";
import { childrenOf, indexOf, summaryOf } from "../args/command-tree.ts";
import type { Command } from "../command/define-command.ts";
import { commandPage, groupPage } from "./commands.ts";
import { type Page, rows, text } from "./page.ts";
import { manSection, roffText } from "./roff.ts";
import { topics } from "./topics.ts";

/** A page of the manual: the name of its file, and what stands in it. */
interface ManPage {
  file: string;
  roff: string;
}

/**
 * The manual, made of the same pages as the help: `lenden.1` has the whole, the commands without a
 * group and the topics; each group of commands has a page of its own.
 */
export async function manual(commands: Command[], version: string): Promise<ManPage[]> {
  const names = [...groups.keys()].filter((name) => childrenOf(name, commands).length > 0);
  return [
    { file: "lenden.1", roff: await mainPage(commands, names, version) },
    ...names.map((name) => ({
      file: `${fileName(name)}.1`,
      roff: groupManual(name, commands, version),
    })),
  ];
}

async function mainPage(
  commands: Command[],
  groupNames: string[],
  version: string,
): Promise<string> {
  const single = commands.filter(({ name }) => !name.includes(" "));
  const read = await Promise.all(
    topics.map(async ({ name, load }) => manSection(capitals(name), (await load()).page)),
  );
  return [
    head("lenden", version),
    name("lenden", "collect payments, send payouts and issue refunds in BDT"),
    manSection("SYNOPSIS", [text("lenden <command> [flags]")]),
    manSection("DESCRIPTION", [
      text(
        "lenden collects payments, sends payouts to mobile wallets and issues refunds in BDT. Running the same command twice does not pay twice: the same --ref shows the existing payout, and other repeats are rejected, unless you add --again. The section MONEY SAFETY has the conditions. 'lenden demo' shows all of it on this machine, without real money. 'lenden <command> --help' says the same as this manual.",
      ),
    ]),
    manSection("COMMANDS", overview(commands)),
    ...single.map((command) =>
      manSection(capitals(`lenden ${command.name}`), commandPage(command)),
    ),
    ...read,
    seeAlso(groupNames),
  ].join("");
}

function overview(commands: Command[]): Page {
  return indexOf(commands).map(({ title, names }) =>
    rows(
      title,
      names.map((one) => [`lenden ${one}`, `${summaryOf(one, commands)}.`]),
    ),
  );
}

function groupManual(path: string, commands: Command[], version: string): string {
  const members = childrenOf(path, commands);
  const own = commands.filter((command) => members.includes(command.name));
  return [
    head(fileName(path), version),
    name(fileName(path), lowerFirst(summaryOf(path, commands))),
    manSection("DESCRIPTION", groupPage(path, commands)),
    ...own.map((command) => manSection(capitals(`lenden ${command.name}`), commandPage(command))),
    seeAlso(["", ...members.filter((member) => groups.has(member))]),
  ].join("");
}

function head(title: string, version: string): string {
  return `.\\" Made by 'npm run man' from the help; do not edit.\n.TH ${title.toUpperCase()} 1 "" "lenden ${version}" "lenden"\n.nh\n.ad l\n`;
}

function name(title: string, summary: string): string {
  return `.SH NAME\n${roffText(title)} \\- ${roffText(summary)}\n`;
}

/** The other pages; an empty name is lenden itself. */
function seeAlso(names: string[]): string {
  const pages = names.map((one) => `.BR ${roffText(fileName(one))} (1)`);
  return `.SH SEE ALSO\n${pages.join(" ,\n")}\n`;
}

function fileName(path: string): string {
  return ["lenden", ...path.split(" ").filter(Boolean)].join("-");
}

function capitals(title: string): string {
  return title.replaceAll("-", " ").toUpperCase();
}

function lowerFirst(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}
