import { Command as Commander, type Help } from "commander";
import { type Entry, entries, entriesBelow } from "../../commands/index.ts";
import { exits } from "../../domain/failure.ts";
import type { Command } from "../command/define-command.ts";
import { type Argument, argumentName, type Flag, flagName } from "../command/flag.ts";
import { flagRow, type Row, type Section, topics } from "./page.ts";

interface Style {
  color: boolean;
  width?: number;
}

/**
 * The help of a command, a group, a topic, or of lenden itself (an empty path).
 *
 * @throws Failure `usage` if there is nothing of that name
 */
export async function helpText(path: string, style: Style): Promise<string> {
  const ofCommand = /^json (.+)$/.exec(path)?.[1];
  const schema =
    ofCommand && (await (await import("../../commands/json-schemas.ts")).jsonSchemaOf(ofCommand));
  return schema ? `${JSON.stringify(schema, null, 2)}\n` : print(await pageOf(path), style);
}

async function pageOf(path: string): Promise<Section[]> {
  if (path === "") return rootPage();
  const entry = entries.find(({ name }) => name === path);
  const command = await entry?.load?.();
  if (entry)
    return command ? commandPage(entry, command, await sharedWith(command)) : groupPage(entry);
  if (path === "topics") return topicsPage();
  if (path === "json") return (await import("../../commands/json-schemas.ts")).jsonPage();
  const topic = topics.find(({ name }) => name === path);
  if (topic) {
    const { topicPages } = await import("./topic-pages.ts");
    const sections = Object.entries(topicPages[topic.name]).map(topicSection);
    return [{ text: topic.summary }, ...sections, learnMore("topics")];
  }
  throw (await import("../args/suggest.ts")).unknownHelp(path.split(" "));
}

function topicSection([title, content]: [string, string | Record<string, string>]): Section {
  if (typeof content === "string")
    return title === "" ? { text: content } : { title, text: content };
  return title === "Examples"
    ? { title, examples: content }
    : { title, rows: Object.entries(content) };
}

function rootPage(): Section[] {
  const headings = new Set(entries.map(({ heading }) => heading));
  return [
    { text: "Collect payments, send payouts and issue refunds in BDT, with safe retries." },
    {
      text: "Running the same command twice does not pay twice: the same --ref shows the existing payout. All conditions: 'lenden help money-safety'.",
    },
    usage("<command> [flags]"),
    ...[...headings].flatMap((title) =>
      title ? [{ title, rows: entries.filter(({ heading }) => heading === title).map(rowOf) }] : [],
    ),
    {
      title: "Examples",
      examples: { "Try everything on this machine, without an account": "lenden demo" },
    },
    { text: "Learn more: lenden help <command>, lenden help topics" },
  ];
}

function topicsPage(): Section[] {
  return [
    { text: "Help topics" },
    {
      title: "Topics",
      rows: [
        ...topics.map(({ name, summary }): Row => [name, summary]),
        ["json", "JSON Schema of the output of a command"],
      ],
    },
    learnMore("<topic>"),
  ];
}

function groupPage(entry: Entry): Section[] {
  return [
    { text: entry.summary },
    ...paragraphs(entry.description),
    usage(entry.name, "<command> [flags]"),
    { title: "Commands", rows: entriesBelow(entry.name).map(rowBelow) },
    { text: `Learn more: lenden help ${entry.name} <command>` },
  ];
}

/** The flags that the help of another command describes in the same way. */
async function sharedWith({ flags, sameFlagsAs }: Command): Promise<Flag[]> {
  const other = await entries.find(({ name }) => name === sameFlagsAs)?.load?.();
  const described = Object.values(other?.flags ?? {}).map((flag) => flagRow(flag).join());
  return Object.values(flags).filter((flag) => described.includes(flagRow(flag).join()));
}

function commandPage({ name, summary }: Entry, command: Command, shared: Flag[]): Section[] {
  const { description, examples, exitCodes = {}, sameFlagsAs } = command;
  const args = Object.values(command.arguments);
  const flags = Object.values(command.flags);
  const required = flags.filter(({ presence }) => presence === "required");
  return [
    { text: summary },
    ...paragraphs(description),
    usage(name, ...args.map(termOf), ...required.map((flag) => flag.usage), "[flags]"),
    { title: Object.keys(examples).length === 1 ? "Example" : "Examples", examples },
    { title: "Arguments", rows: args.map((one) => [termOf(one), one.about]) },
    {
      title: "Flags",
      rows: flags.filter((flag) => !shared.includes(flag)).map(flagRow),
      ...(sameFlagsAs && {
        text: `As for 'lenden ${sameFlagsAs}': ${shared.map(flagName).join(", ")}.`,
      }),
    },
    {
      title: "Columns",
      text: flags.flatMap(({ read }) => (read.isList ? (read.words ?? []) : [])).join(", "),
    },
    {
      title: "Exit codes",
      rows: Object.entries(exits).flatMap(([kind, { code }]): Row[] => {
        const meaning = new Map(Object.entries(exitCodes)).get(kind);
        return meaning === undefined ? [] : [[String(code), meaning]];
      }),
    },
    learnMore([...topicsOf(name, command), "flags"].join(", ")),
  ];
}

/** An empty line ends a paragraph. */
function paragraphs(texts = ""): Section[] {
  return texts.split("\n\n").map((text) => ({ text }));
}

function usage(...words: string[]): Section {
  return { text: `Usage: lenden ${words.join(" ")}` };
}

function learnMore(topic: string): Section {
  return { text: `Learn more: lenden help ${topic}` };
}

function topicsOf(name: string, { writes, finishes, sandboxOnly }: Command): string[] {
  if (name.startsWith("payout batch")) return ["batch"];
  return (writes || finishes) && !sandboxOnly ? ["money-safety"] : [];
}

function rowOf({ name, summary }: Entry): Row {
  return [name, summary];
}

/** A command on the page of its group, without the name of the group. */
function rowBelow({ name, summary }: Entry): Row {
  return [name.split(" ").at(-1) ?? name, summary];
}

function termOf(argument: Argument): string {
  const { presence } = argument;
  const name = argumentName(argument);
  if (presence === "optional") return `[${name}]`;
  return presence === "required" ? `<${name}>` : `<${name}>...`;
}

/** commander wraps and aligns, and removes the color where none is wanted. */
function print(page: Section[], { color, width = 80 }: Style): string {
  return new Commander()
    .configureOutput({ getOutHasColors: () => color, getOutHelpWidth: () => width })
    .configureHelp({
      styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
      formatHelp: (_, helper) => {
        const parts = page.map((section) => formatSection(section, helper, width));
        return `${parts.filter(Boolean).join("\n\n")}\n`;
      },
    })
    .helpInformation();
}

function formatSection(section: Section, helper: Help, width: number): string {
  const { title, text = "", rows = [], examples = {} } = section;
  const body = [
    ...(text === "" ? [] : [helper.boxWrap(text, width)]),
    ...formatRows(rows, helper),
    ...Object.entries(examples).map(([comment, command]) => {
      const lines = helper.boxWrap(comment, width - 4).replaceAll("\n", "\n  # ");
      return `  # ${lines}\n  ${command}\n`;
    }),
  ].join("\n");
  if (body === "") return "";
  const titled = title === undefined ? body : `${helper.styleTitle(title)}\n${body}`;
  return titled.trimEnd().replace(/^Usage:/, helper.styleTitle("Usage:"));
}

/** Terms on the left; one that is too wide has a line of its own. */
function formatRows(rows: Row[], helper: Help): string[] {
  const widths = rows.map(([term]) => term.length).filter((length) => length <= widestTerm);
  const width = Math.max(0, ...widths);
  return rows.map(([term, meaning]) =>
    term.length > width
      ? `  ${term}\n${helper.formatItem("", width, meaning, helper)}`
      : helper.formatItem(term, width, meaning, helper),
  );
}

const widestTerm = 27;
