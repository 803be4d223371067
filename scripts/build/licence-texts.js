const opening =
  "Code of these packages is part of lenden. Each keeps the licence that it came with.\n";

/** The licences of bundled code, word for word; packages that share a text are named above it. */
export function licenceTexts(packages) {
  const namesByText = new Map();
  for (const { name, version, license, text } of packages) {
    const words = text.replaceAll("\r\n", "\n").trim();
    const named = namesByText.get(words) ?? [];
    namesByText.set(words, [...named, `${name} ${version} (${license})`].sort());
  }
  const parts = [...namesByText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  return [opening, ...parts.sort()].join(`\n${"-".repeat(80)}\n\n`);
}
