import { parseSync } from "rolldown/utils";

/**
 * @typedef {{ start: number, end: number }} Range
 * @typedef {{ at: number, text: string }} Prose A text, and its position in the file.
 */

/**
 * The parts of a file that a person reads. Each text is as long as its source, so that a position
 * in one is a position in the other.
 *
 * @param {string} path
 * @param {string} source
 * @returns {{ prose: Prose[], error?: string }} With an error if the file cannot be parsed.
 */
export function proseOf(path, source) {
  if (/\.[cm]?[jt]s$/.test(path)) return proseOfCode(path, source);
  if (path === "package.json") return { prose: descriptionOf(source) };
  return { prose: [{ at: 0, text: source }] };
}

/**
 * @param {string} path
 * @param {string} source
 * @returns {{ prose: Prose[], error?: string }}
 */
function proseOfCode(path, source) {
  const { program, comments, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) return { prose: [], error: error.message };
  // Line comments on consecutive lines are one text, and so are strings joined by "+".
  const texts = [
    ...joined(comments, source, /^[ \t]*\r?\n[ \t]*$/),
    ...joined(stringsOf(program), source, /^`?\s*\+\s*`?$/),
  ];
  return {
    prose: texts.map(({ start, end }) => ({ at: start, text: plain(source.slice(start, end)) })),
  };
}

/**
 * The ranges of all string literals and template texts, except for the paths of imports and exports.
 *
 * @param {object} program
 * @returns {Range[]}
 */
function stringsOf(program) {
  /** @type {Range[]} */
  const found = [];
  /** @param {unknown} node */
  const visit = (node) => {
    if (typeof node !== "object" || node === null) return;
    if (isText(node)) found.push(node);
    for (const [key, child] of Object.entries(node)) if (key !== "source") visit(child);
  };
  visit(program);
  return found.sort((a, b) => a.start - b.start);
}

/**
 * True for a string literal and for a text in a template.
 *
 * @param {object} node
 * @returns {node is Range}
 */
function isText(node) {
  if (!("type" in node && "start" in node && "end" in node)) return false;
  return node.type === "TemplateElement" || ("value" in node && typeof node.value === "string");
}

/**
 * Joins ranges if the text between them matches.
 *
 * @param {Range[]} ranges
 * @param {string} source
 * @param {RegExp} between
 * @returns {Range[]}
 */
function joined(ranges, source, between) {
  /** @type {Range[]} */
  const result = [];
  for (const { start, end } of ranges) {
    const last = result.at(-1);
    if (last !== undefined && between.test(source.slice(last.end, start))) last.end = end;
    else result.push({ start, end });
  }
  return result;
}

/**
 * Replaces everything that can separate two words of a text with as many spaces: escaped line
 * breaks, the marks of comments, and the quotes and "+" between joined strings.
 *
 * @param {string} code
 */
function plain(code) {
  return code.replace(
    /\\[nrt]|\\\r?\n|\n[ \t]*(?:\/\/+|\*(?!\/))|["'`]\s*\+\s*["'`]/g,
    (separator) => " ".repeat(separator.length),
  );
}

/**
 * @param {string} source
 * @returns {Prose[]}
 */
function descriptionOf(source) {
  const match = /^ {2}"description": (.*)$/m.exec(source);
  return match === null ? [] : [{ at: match.index, text: match[0] }];
}
