/** The XML of a workbook is in a form that programs read differently. */
export class UnusualXml extends Error {}

/**
 * The text of an entry, a character for each byte: twice as many would be in memory, and markup is ASCII. Without
 * comments, in which the library would find cells.
 *
 * @throws UnusualXml
 */
export function xmlOf(bytes: Buffer): string {
  const xml = bytes.toString("latin1");
  const encoding = /^[^<]*<\?xml[^>]*encoding\s*=\s*["']([^"']*)["']/.exec(xml.slice(0, 200))?.[1];
  if (!/^(?:\xef\xbb\xbf)?\s*</.test(xml) || !/^(?:utf-8|us-ascii)$/i.test(encoding ?? "utf-8"))
    throw new UnusualXml("It contains XML that is not UTF-8.");
  if (xml.includes("<![CDATA[") || xml.includes("<!DOCTYPE"))
    throw new UnusualXml("It contains XML of a form that spreadsheets do not write.");
  return xml.includes("<!--") ? xml.replace(/<!--[\s\S]*?-->/g, "") : xml;
}

/**
 * Rewrites a text part by part, each of whole tags: of a whole sheet at once, all that is replaced would be in memory
 * beside it.
 */
export function inParts(xml: string, rewrite: (part: string) => string): string {
  const parts: string[] = [];
  for (let from = 0; from < xml.length; ) {
    const next = xml.indexOf("<", from + 1_000_000);
    const to = next < 0 ? xml.length : next;
    parts.push(rewrite(xml.slice(from, to)));
    from = to;
  }
  return parts.join("");
}

/** An attribute by its name without a prefix; undefined if a tag does not have it. */
export function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s(?:[\\w.-]+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  const value = found?.[1] ?? found?.[2];
  return value === undefined ? undefined : unescaped(Buffer.from(value, "latin1").toString());
}

/** The opening tags of a name, with any prefix. */
export function tagsOf(xml: string, name: string): string[] {
  return xml.match(new RegExp(`<(?:[\\w.-]+:)?${name}(?:\\s[^<>]*)?>`, "g")) ?? [];
}

export function isTrue(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

const named: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Text for an attribute, as bytes are in `xmlOf`. */
export function escaped(text: string): string {
  return Buffer.from(text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)).toString(
    "latin1",
  );
}
