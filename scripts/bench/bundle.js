import { decode } from "@jridgewell/sourcemap-codec";
import { rolldown } from "rolldown";
import bundles from "../build/rolldown.config.js";

/**
 * What each file of dist/ is made of: its name → how many of its bytes come from which module, by the
 * module's path from the root. It is bundled once more, in memory, with a map from bytes to sources.
 */
export async function modulesByFile() {
  const files = new Map();
  for (const config of bundles) {
    const bundle = await rolldown(config);
    const { output } = await bundle.generate({ ...config.output, sourcemap: "hidden" });
    await bundle.close();
    for (const one of output) {
      if (one.type === "chunk") files.set(one.fileName, bytesByModule(one.code, one.map));
    }
  }
  return files;
}

/**
 * Each stretch of text, from one mark of the map to the next, belongs to the first mark's source.
 * What has none is rolldown's own; a file of nothing else has no map.
 */
function bytesByModule(code, map) {
  const bytes = new Map();
  let module = "rolldown";
  const add = (text) => bytes.set(module, (bytes.get(module) ?? 0) + Buffer.byteLength(text));
  const marksByLine = decode(map?.mappings ?? "");
  for (const [index, line] of code.split(/(?<=\n)/).entries()) {
    const marks = marksByLine[index] ?? [];
    add(line.slice(0, marks[0]?.[0])); // a text of several lines has its mark where it begins
    for (const [at, [column, source]] of marks.entries()) {
      module = source === undefined ? "rolldown" : map.sources[source].replace(/^\.\.\//, "");
      add(line.slice(column, marks[at + 1]?.[0]));
    }
  }
  return bytes;
}

/** Whose a module is: a package, or one of our rooms. */
export function ownerOf(module) {
  const [, inPackage] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module) ?? [];
  const [ours] = /^src(?:\/[\w-]+(?=\/))?/.exec(module) ?? [];
  return inPackage ?? ours ?? module;
}
