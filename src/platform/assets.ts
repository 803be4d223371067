import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What comes with lenden beside its main program. */
export interface Parts {
  /** The text of a file of the package: `package.json`, `completions/_lenden`. Throws where there is none. */
  shipped(file: string): string;
  /** Whether Node keeps compiled code of it for the next start; the one file contains that itself. */
  keepsCompiled: boolean;
  /** What asks the operating system's keychain, over stdin and stdout, where there is such a program. */
  keychain?: Program;
}

/** What a process of its own is started with. */
interface Program {
  program: string;
  args: string[];
}

/**
 * The parts of the installed package. The single-file binary has them inside (`scripts/binary/main.ts`).
 *
 * @param node the program that runs them
 */
export function packageParts(node: string): Parts {
  const file = (name: string): string => join(packageRoot(), name);
  return {
    shipped: (name) => readFileSync(file(name), "utf8"),
    keepsCompiled: true,
    keychain: { program: node, args: [file("dist/keychain.cjs")] },
  };
}

/** The source is in several directories of the package, and the bundle in one. */
function packageRoot(directory = import.meta.dirname): string {
  const isRoot = existsSync(join(directory, "package.json"));
  return isRoot ? directory : packageRoot(dirname(directory));
}
