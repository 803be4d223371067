import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What comes with lenden beside its main program. */
export interface Parts {
  /** The text of a file of the package: `package.json`, `completions/_lenden`. Throws where there is none. */
  shipped(file: string): string;
  /** Whether Node keeps compiled code of it for the next start; the one file contains that itself. */
  keepsCompiled: boolean;
  /** What asks the operating system's keychain, over stdin and stdout, where there is such a program. */
  keychain?: Program;
  /** What looks up the name that it reads from stdin. */
  lookup: Program;
}

/** What a process of its own is started with. */
interface Program {
  program: string;
  args: string[];
}

/**
 * The parts of the installed package, which are files; its folder is one up from the source and
 * from the bundle alike. What lenden is made of as one file is in `binary/launcher.cjs`.
 *
 * @param node the program that runs them
 */
export function packageParts(node: string): Parts {
  const file = (name: string): string => join(import.meta.dirname, "..", name);
  return {
    shipped: (name) => readFileSync(file(name), "utf8"),
    keepsCompiled: true,
    keychain: { program: node, args: [file("dist/keychain.cjs")] },
    lookup: { program: node, args: [file("dist/lookup.cjs")] },
  };
}
