import { Command as Commander, type Help } from "commander";
import { keysOf } from "../../domain/collect.ts";
import { exits } from "../../domain/failure.ts";
import { ownOutputFlag } from "../args/globals.ts";
import type { Command } from "../command/define-command.ts";
import { type Argument, argumentName, type Flag, flagName, flagRow } from "../command/flag.ts";
import { type Entry, entriesBelow, loadCommands } from "../command/table.ts";
import { topics } from "./topics.ts";

/** A paragraph, or a title with a text, terms and what they mean, or commands by what they do. */
type Section = string | [title: string, content: string | Record<string, string>];

interface Style {
  color: boolean;
  width?: number;
}

/**
 * The help of a command, a group, a topic, or of lenden itself (an empty path).
 *
 * @throws Failure `usage` if there is nothing of that name
 */
export async function helpText(
  path: string,
  entries: readonly Entry[],
  style: Style,
): Promise<string> {
  const ofCommand = /^json (.+)$/.exec(path)?.[1];
  const schema = ofCommand && (await schemaOf(ofCommand, entries));
  return schema
    ? `${JSON.stringify(schema, null, 2)}\n`
    : print(await pageOf(path, entries), style);
}

/** The JSON Schema of what a command prints with --json; of errors, for `error`. */
async function schemaOf(command: string, entries: readonly Entry[]): Promise<object | undefined> {
  const { errorSchema, jsonSchemaOf, schemas } = await import("../output/json-schema.ts");
  if (command === "error") return jsonSchemaOf(errorSchema);
  const definition = await entries.find(({ name }) => name === command)?.load?.();
  const item = definition?.output?.(schemas);
  return item && jsonSchemaOf(definition?.list ? schemas.z.array(item) : item);
}

async function pageOf(path: string, entries: readonly Entry[]): Promise<Section[]> {
  if (path === "") return rootPage(entries);
  const entry = entries.find(({ name }) => name === path);
  const command = await entry?.load?.();
  if (entry)
    return command
      ? commandPage(entry, command, await sharedWith(command, entries), entries)
      : groupPage(entry, entries);
  if (path === "topics")
    return [
      "Help topics",
      ["Topics", { ...summariesOf(topics), json: "JSON Schema of the output of a command" }],
      learnMore("<topic>"),
    ];
  if (path === "json") return jsonPage(entries);
  const topic = topics.find(({ name }) => name === path);
  if (topic) {
    const { topicPages } = await import("./topic-pages.ts");
    return [topic.summary, ...Object.entries(topicPages[topic.name]), learnMore("topics")];
  }
  throw (await import("../args/suggest.ts")).unknownHelp(path.split(" "), entries);
}

async function jsonPage(entries: readonly Entry[]): Promise<Section[]> {
  const bare = (await loadCommands(entries))
    .filter(({ output }) => !output)
    .map(({ name }) => name);
  return [
    "JSON Schema of the output of a command",
    "--json prints one document: the API's fields unchanged, and those that lenden adds. The API's amounts are numbers; those of added fields are decimal strings. -o ndjson prints one document per line. Accept unknown fields: later versions add some.",
    "Usage: lenden help json <command>",
    [
      "Examples",
      {
        "Print the schema of a payout": "lenden help json payout send",
        "Print the schema of errors": "lenden help json error",
      },
    ],
    `Every command has a schema, except ${bare.slice(0, -1).join(", ")} and ${bare.at(-1)}.`,
    "Learn more: lenden help formats",
  ];
}

function rootPage(entries: readonly Entry[]): Section[] {
  const headings = new Set(entries.flatMap(({ heading = [] }) => heading));
  return [
    "Collect payments, send payouts and issue refunds in BDT, with safe retries.",
    "Running the same command twice does not pay twice, under the conditions of 'lenden help money-safety'.",
    usage("<command> [flags]"),
    ...[...headings].map((title): Section => {
      return [title, summariesOf(entries.filter(({ heading }) => heading === title))];
    }),
    ["Examples", { "Try everything on this machine, without an account": "lenden demo" }],
    "Learn more: lenden help <command>, lenden help topics",
  ];
}

/** The commands of a group, without its name. */
function commandsBelow(name: string, entries: readonly Entry[]): Section {
  const below = entriesBelow(entries, name).map((one) => ({
    ...one,
    name: one.name.split(" ").at(-1) ?? "",
  }));
  return ["Commands", summariesOf(below)];
}

function groupPage({ name, summary, description }: Entry, entries: readonly Entry[]): Section[] {
  return [
    summary,
    ...paragraphs(description),
    usage(name, "<command> [flags]"),
    commandsBelow(name, entries),
    learnMore(`${name} <command>`),
  ];
}

function summariesOf(named: readonly { name: string; summary: string }[]): Record<string, string> {
  return Object.fromEntries(named.map(({ name, summary }) => [name, summary]));
}

/** The flags that the help of another command describes in the same way. */
async function sharedWith(
  { flags, sameFlagsAs }: Command,
  entries: readonly Entry[],
): Promise<Flag[]> {
  const other = await entries.find(({ name }) => name === sameFlagsAs)?.load?.();
  const described = Object.values(other?.flags ?? {}).map((flag) => flagRow(flag).join());
  return Object.values(flags).filter((flag) => described.includes(flagRow(flag).join()));
}

function commandPage(
  { name, summary }: Entry,
  command: Command,
  shared: Flag[],
  entries: readonly Entry[],
): Section[] {
  const { description, examples, exitCodes = {}, sameFlagsAs } = command;
  const args = Object.values(command.arguments);
  const flags: Flag[] = Object.values({ ...command.flags, ...ownOutputFlag(command) });
  const own = flags.filter((flag) => !shared.includes(flag));
  const required = flags.filter(({ presence }) => presence === "required");
  const isProgram = args.some(({ presence }) => presence === "rest");
  const codes = keysOf(exitCodes).map((kind) => [exits[kind].code, exitCodes[kind] ?? ""]);
  return [
    summary,
    ...paragraphs(description),
    isProgram
      ? usage(name, "[flags] --", ...args.map(termOf))
      : usage(name, ...args.map(termOf), ...required.map((flag) => flag.usage), "[flags]"),
    [Object.keys(examples).length === 1 ? "Example" : "Examples", examples],
    commandsBelow(name, entries),
    ["Arguments", Object.fromEntries(args.map((one) => [termOf(one), one.about]))],
    ["Flags", Object.fromEntries(own.map(flagRow))],
    [`Flags as for 'lenden ${sameFlagsAs}'`, shared.map(flagName).join(", ")],
    ["Columns", flags.flatMap(({ read }) => (read.isList ? (read.words ?? []) : [])).join(", ")],
    ["For people only", peopleOnly(command)],
    ["Exit codes", Object.fromEntries(codes)],
    learnMore([...topicsOf(name, command), "flags"].join(", lenden help ")),
  ];
}

/** What only a person may use: an agent is rejected. */
function peopleOnly({ needsPerson, needsPersonInProduction, flags }: Command): string {
  if (needsPerson !== undefined) return "this command";
  if (needsPersonInProduction !== undefined) return "this command in production";
  return Object.values(flags)
    .filter((flag) => flag.needsPerson !== undefined)
    .map(flagName)
    .join(", ");
}

/** An empty line ends a paragraph. */
function paragraphs(texts = ""): string[] {
  return texts.split("\n\n");
}

function usage(...words: string[]): string {
  return `Usage: lenden ${words.join(" ")}`;
}

function learnMore(topic: string): string {
  return `Learn more: lenden help ${topic}`;
}

function topicsOf(name: string, { writes, sandboxOnly }: Command): string[] {
  if (name.startsWith("payout batch")) return ["batch"];
  return writes && !sandboxOnly ? ["money-safety"] : [];
}

function termOf(argument: Argument): string {
  const { presence, unless } = argument;
  const name = argumentName(argument);
  if (presence === "many" && unless !== undefined) return `[${name}]...`;
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
  const [title, content] = typeof section === "string" ? ["", section] : section;
  const body = bodyOf(title, content, helper, width);
  if (body === "") return "";
  const titled = title === "" ? body : `${helper.styleTitle(title)}\n${body}`;
  return titled.trimEnd().replace(/^Usage:/, helper.styleTitle("Usage:"));
}

function bodyOf(title: string, content: Exclude<Section, string>[1], helper: Help, width: number) {
  if (typeof content === "string") return content && helper.boxWrap(content, width);
  const rows = Object.entries(content);
  if (/^Examples?$/.test(title))
    return rows
      .map(([comment, command]) => {
        const lines = helper.boxWrap(comment, width - 4).replaceAll("\n", "\n  # ");
        return `  # ${lines}\n  ${command}\n`;
      })
      .join("\n");
  // Terms on the left; one that is too wide has a line of its own.
  const widths = rows.map(([term]) => term.length).filter((length) => length <= widestTerm);
  const most = Math.max(0, ...widths);
  return rows
    .map(([term, meaning]) =>
      term.length > most
        ? `  ${term}\n${helper.formatItem("", most, meaning, helper)}`
        : helper.formatItem(term, most, meaning, helper),
    )
    .join("\n");
}

const widestTerm = 27;
