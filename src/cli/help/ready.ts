import type { Host } from "../../platform/host.ts";
import { wantsColor } from "../output/style.ts";
import { withoutEmphasis } from "./emphasis.ts";

/**
 * The page that a plain request for help asks for, as the build has written it down: help is what
 * people meet first, and it should be there at once. Undefined for every other line, and where
 * there is no such page: who knows all the commands answers those.
 */
export function readyHelp(argv: string[], { shipped, env, lastOutput }: Host): string | undefined {
  const page = firstOf(filesOf(argv), shipped);
  if (page === undefined) return undefined;
  const color = wantsColor({ mode: undefined, env, isTerminal: lastOutput.isTTY });
  return color ? page : withoutEmphasis(page);
}

/** The file that the build writes a page into: of lenden, of a group, of a command; or of a topic. */
export function pageFile(path: string, kind: "lenden" | "topic" = "lenden"): string {
  return `${[kind, ...path.split(" ").filter(Boolean)].join(".")}.txt`;
}

/** `payout send --help` and `help payout send` are one page, and so is every way to the first one. */
function filesOf(argv: string[]): string[] {
  const asks = (text = "") => text === "--help" || text === "-h";
  const [first, ...others] = argv;
  if (first === undefined || (asks(first) && others.length === 0)) return [pageFile("")];
  const isAsked = first === "help" || asks(argv.at(-1));
  const words = first === "help" ? others : argv.slice(0, -1);
  // Nothing else can be a name, or lead out of the folder.
  if (!isAsked || !words.every((word) => /^[a-z][a-z-]*$/.test(word))) return [];
  const path = words.join(" ");
  return first === "help" ? [pageFile(path), pageFile(path, "topic")] : [pageFile(path)];
}

function firstOf(files: string[], shipped: Host["shipped"]): string | undefined {
  for (const file of files) {
    try {
      return shipped(`dist/help/${file}`);
    } catch {
      // Not built, or no such page.
    }
  }
  return undefined;
}
