import { outputFormats } from "../../output/render.ts";
import { colorModes } from "../../output/style.ts";
import { type Page, rows, text } from "../page.ts";

const formats: Record<(typeof outputFormats)[number], string> = {
  table: "For people: a card for one record, a table for many (the usual one)",
  json: "One JSON document: the service's own fields, and those that lenden adds",
  ndjson: "One JSON document a line, for long lists",
  csv: "For spreadsheets; cells that begin with =, +, - or @ get a ' before them",
};

export const page: Page = [
  text("How results and errors are printed. stdout is the answer, stderr is everything else."),
  {
    kind: "examples",
    examples: [
      { line: "lenden payout list -o csv > payouts.csv", says: "a file for a spreadsheet" },
      { line: "lenden methods -q", says: "the ids alone, one a line" },
      { line: "lenden pay get TX8F3K2Q --verbose", says: "the request and the answer on stderr" },
    ],
  },
  rows(
    "Formats (-o, --output)",
    outputFormats.map((format) => [format, formats[format]]),
  ),
  text(
    "The shape of JSON never depends on whether there is a terminal. A list is an array. 'lenden sandbox requests --follow' and 'lenden demo' print one document a line.",
  ),
  text(
    `--color is one of ${colorModes.join(", ")}. By itself, colour is for terminals; NO_COLOR, FORCE_COLOR and TERM=dumb are respected.`,
    "Colours",
  ),
  text(
    'One sentence says what happened, one says what to do. With --json it is one line: {"error": {…}} with kind, reason, message, effect, hint, status, code and operation. reason is a stable identifier, effect what happened to money. Nothing else is on stderr then, except with --verbose. A warning about money is in the field warnings of the result, or of the error.',
    "Errors",
  ),
  text(
    "Keys and secrets are masked in everything that is printed, in errors and with --verbose too.",
    "Secrets",
  ),
];
