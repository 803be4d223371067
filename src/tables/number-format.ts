/**
 * What the format of a number says that it is: `%`, a currency, or another text that is shown beside it (`Dr`).
 *
 * @param format a format code, such as `"$"#,##0.00` or `[$USD] #,##0;-[$USD] #,##0`
 * @param value decides which part of the format applies
 */
export function unitOf(format: string, value: number): string | undefined {
  const sections = sectionsOf(format);
  const isUsed = (section: string | undefined) => section !== undefined && section !== "";
  const chosen = value < 0 ? sections[1] : value === 0 ? sections[2] : undefined;
  const section = (isUsed(chosen) ? chosen : sections[0]) ?? "";
  const texts: string[] = [];
  const rest = section
    .replace(/\[\$([^\]-]*)(?:-[^\]]*)?\]/g, (_, symbol) => keep(texts, symbol))
    .replace(/\[[^\]]*\]/g, "")
    .replace(/"([^"]*)"/g, (_, text) => keep(texts, text))
    // A space as wide as a character, or a character that fills the cell.
    .replace(/[_*]./gsu, "")
    .replace(/\\(.)/gsu, (_, character) => keep(texts, character));
  if (/^\s*General\s*$/i.test(rest) && texts.length === 0) return undefined;
  if (rest.includes("%")) return "%";
  const symbols = rest.match(/\p{Sc}/gu) ?? [];
  const shown = [...texts, ...symbols].join("").trim();
  // Marks that stand beside amounts without changing them.
  if (!/[\p{L}\p{Sc}%]/u.test(shown)) return undefined;
  return /^(?:bdt|tk\.?|taka|৳|টাকা)(?:\s*\/[-=])?$/iu.test(shown) ? "BDT" : shown;
}

function keep(texts: string[], text: string): string {
  texts.push(text);
  return "";
}

/** Divides at semicolons that are not part of a text. */
function sectionsOf(format: string): string[] {
  const sections = [""];
  for (const [part] of format.matchAll(/"[^"]*"|\\.|\[[^\]]*\]|[\s\S]/gu)) {
    if (part === ";") sections.push("");
    else sections[sections.length - 1] += part;
  }
  return sections;
}

/** A number in plain decimals with at most 15 significant digits, as a spreadsheet shows it. */
export function plainNumber(value: number): string {
  const [digits = "", exponent = "0"] = Math.abs(value).toExponential(14).split("e");
  const all = digits.replace(".", "").replace(/0+$/, "");
  if (all === "") return "0";
  const point = Number(exponent) + 1;
  const [whole, decimals] =
    point <= 0
      ? ["0", "0".repeat(-point) + all]
      : [all.slice(0, point).padEnd(point, "0"), all.slice(point)];
  return `${value < 0 ? "-" : ""}${whole}${decimals === "" ? "" : `.${decimals}`}`;
}

/**
 * The date of a serial number in ISO form, to the second; only the time if it is of the first day.
 *
 * @returns undefined if it is no date
 */
export function dateOf(serial: number, date1904: boolean): string | undefined {
  const seconds = Math.round(serial * 86_400);
  const day = Math.floor(seconds / 86_400);
  const time = new Date((seconds - day * 86_400) * 1_000).toISOString().slice(11, 19);
  // 9999-12-31 is the last one.
  if (day < 0 || day > 2_958_465 - (date1904 ? 1_462 : 0)) return undefined;
  if (day === 0 && serial > 0) return time;
  // Day 60 of the system of 1900 is 1900-02-29, which was none.
  if (!date1904 && day === 60) return undefined;
  const first = date1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  const date = new Date(first + day * 86_400_000).toISOString().slice(0, 10);
  return time === "00:00:00" ? date : `${date}T${time}`;
}
