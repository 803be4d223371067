import { groups } from "../../commands/groups.ts";
import { exits, type FailureKind } from "../../domain/failure.ts";
import { childrenOf, summaryOf } from "../args/command-tree.ts";
import type { Command } from "../command/define-command.ts";
import type { Flag } from "../command/flag.ts";
import { type Page, type Row, rows, text } from "./page.ts";

/** The help of one command. */
export function commandPage(command: Command): Page {
  const { name, summary, details, examples } = command;
  const args = Object.values(command.arguments);
  return [
    text(`${summary}.`),
    ...paragraphs(details),
    { kind: "usage", line: `lenden ${[name, ...args.map(argumentUsage), "[flags]"].join(" ")}` },
    { kind: "examples", examples },
    rows(
      "Arguments",
      args.map((one) => [argumentUsage(one), one.about]),
    ),
    rows("Flags", Object.values(command.flags).map(flagRow)),
    rows("Exit codes", exitRows(command.exits ?? [])),
    text("Flags that work everywhere, such as --profile and --json: 'lenden help flags'."),
  ];
}

/** The help of a group of commands; its example is the first one of its first command. */
export function groupPage(path: string, commands: Command[]): Page {
  const group = groups.get(path);
  const members = commands.filter(({ name }) => name.startsWith(`${path} `));
  return [
    ...(group ? [text(`${group.summary}.`)] : []),
    ...paragraphs(group?.details),
    { kind: "usage", line: `lenden ${path} <command> [flags]` },
    rows(
      "Commands",
      childrenOf(path, commands).map((name) => [name, summaryOf(name, commands)]),
    ),
    { kind: "examples", examples: members.flatMap(({ examples }) => examples).slice(0, 1) },
    text(`'lenden ${path} <command> --help' has examples, flags and exit codes of each.`),
  ];
}

/** What is said of a command beyond its summary; an empty line ends a paragraph. */
function paragraphs(details: string | undefined): Page {
  return details?.split("\n\n").map((paragraph) => text(paragraph)) ?? [];
}

/** A flag and what it is for, with what it asks of who gives it. */
export function flagRow({ usage, about, presence }: Flag): Row {
  const more: Partial<Record<Flag["presence"], string>> = {
    required: " (required)",
    setting: " (required)",
    either: " (required)",
    many: " (may be repeated)",
  };
  return [usage, about + (more[presence] ?? "")];
}

function argumentUsage({ name, presence }: { name: string; presence: string }): string {
  if (presence === "required") return `<${name}>`;
  return presence === "rest" ? `<${name}>…` : `[${name}]`;
}

function exitRows(kinds: FailureKind[]): Row[] {
  const ends = [...new Set<FailureKind>(["usage", ...kinds])].map((kind) => exits[kind]);
  return [{ code: 0, means: "done" }, ...ends]
    .sort((one, other) => one.code - other.code)
    .map(({ code, means }) => [String(code), means]);
}
