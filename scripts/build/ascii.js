/**
 * Writes every character beyond ASCII as an escape, which means the same in a string, a template and
 * a pattern. A file of ASCII alone is read, kept and compiled as one byte a character.
 */
export const ascii = {
  name: "ascii",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      // After a backslash the escape would be the text of one.
      if (/\\[^\0-\x7f]/.test(chunk.code)) throw new Error(`${chunk.fileName} escapes a character`);
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

/** A pair of surrogates is two escapes: together they are the same character again. */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
