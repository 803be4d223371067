import { exits, type FailureKind } from "../failure.ts";
import type { Command, Example } from "../frame/command.ts";
import type { Flag } from "../frame/flag.ts";
import { globalFlags } from "./globals.ts";
import { unknownCommand } from "./suggest.ts";

/**
 * The help of a command, of a group of commands, or of lenden itself (an empty path). All of it is
 * made from the command list.
 *
 * @throws Failure `usage` when there is nothing of that name
 */
export function helpOf(path: string, commands: Command[]): string {
  const command = commands.find(({ name }) => name === path);
  if (command) return commandHelp(command);
  const members = commands.filter(({ name }) => name.startsWith(`${path} `));
  if (path === "") return rootHelp(commands);
  if (members.length > 0) return groupHelp(path, members);
  const words = path.split(" ");
  throw unknownCommand(words.slice(0, -1).join(" "), words.at(-1) ?? "", commands);
}

/** Groups by what one wants to do; a command belongs to the first that fits. */
const purposes: [string, RegExp][] = [
  ["Take payments", /^(methods|pay )/],
  ["Send payouts", /^payout /],
  ["Pay back", /^refund /],
  ["Try it out", /^(demo|sandbox )/],
  ["Set it up", /^(profile |doctor)/],
  ["Look deeper", /./],
];

function rootHelp(commands: Command[]): string {
  const left = [...commands];
  const sections = purposes.map(([title, pattern]) => {
    const own = left.filter(({ name }) => pattern.test(name));
    for (const command of own) left.splice(left.indexOf(command), 1);
    return section(
      title,
      own.map(({ name, summary }) => [name, summary]),
    );
  });
  return paragraphs([
    "lenden takes payments, sends payouts to mobile wallets, and pays back, in taka, without paying anybody twice.",
    "Usage: lenden <command> [flags]",
    ...sections,
    globalSection(),
    "Start with 'lenden demo'. 'lenden <command> --help' has examples, flags and exit codes.",
  ]);
}

function groupHelp(path: string, members: Command[]): string {
  return paragraphs([
    `Usage: lenden ${path} <command> [flags]`,
    section(
      "Commands",
      members.map(({ name, summary }) => [name, summary]),
    ),
    `'lenden ${path} <command> --help' says more of each.`,
  ]);
}

function commandHelp(command: Command): string {
  const { name, summary, details, examples } = command;
  const args = Object.values(command.arguments);
  return paragraphs([
    `${summary}.`,
    details ? wrapped(details) : "",
    `Usage: lenden ${[name, ...args.map(argumentUsage), "[flags]"].join(" ")}`,
    examples.length > 0 ? `Examples\n${examples.map(exampleText).join("\n")}` : "",
    section(
      "Arguments",
      args.map((one) => [argumentUsage(one), one.about]),
    ),
    section("Flags", Object.values(command.flags).map(flagRow)),
    section("Exit codes", exitRows(command.exits ?? [])),
    "Flags that every command takes, such as --profile, --json and --timeout: 'lenden --help'.",
  ]);
}

function argumentUsage({ name, presence }: { name: string; presence: string }): string {
  if (presence === "required") return `<${name}>`;
  return presence === "rest" ? `<${name}>…` : `[${name}]`;
}

function flagRow(flag: Flag): [string, string] {
  const more: Partial<Record<Flag["presence"], string>> = {
    required: " (required)",
    many: " (may be repeated)",
  };
  return [flag.usage, flag.about + (more[flag.presence] ?? "")];
}

function globalSection(): string {
  return section(
    "Everywhere",
    Object.values(globalFlags).map((flag) => [flag.usage, flag.about]),
  );
}

function exampleText({ line, says }: Example): string {
  return `  ${line}\n      ${says}`;
}

function exitRows(kinds: FailureKind[]): [string, string][] {
  const codes: [number, string][] = [
    [0, "done"],
    [exits.usage.code, exits.usage.means],
    ...kinds.map((kind): [number, string] => [exits[kind].code, exits[kind].means]),
  ];
  return codes.sort(([one], [other]) => one - other).map(([code, means]) => [String(code), means]);
}

const width = 96;

function section(title: string, rows: [string, string][]): string {
  if (rows.length === 0) return "";
  const widest = Math.min(34, Math.max(...rows.map(([name]) => name.length)));
  const lines = rows.map(([name, about]) => {
    const indent = " ".repeat(widest + 4);
    const text = wrapped(about, width - indent.length).replaceAll("\n", `\n${indent}`);
    return name.length > widest
      ? `  ${name}\n${indent}${text}`
      : `  ${name.padEnd(widest)}  ${text}`;
  });
  return `${title}\n${lines.join("\n")}`;
}

function wrapped(text: string, columns = width): string {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}

function paragraphs(texts: string[]): string {
  return `${texts.filter(Boolean).join("\n\n")}\n`;
}
