// The one place that says what the built tool is: the package, on the Node that runs this, or the
// executable that LENDEN_BUILT names.
import { resolve } from "node:path";

const built = process.env.LENDEN_BUILT;

export const isOneFile = Boolean(built);

/** The package's launcher, for what is true of the package alone. */
export const launcher = resolve(import.meta.dirname, "../bin/lenden.js");

/**
 * A program, and the arguments that come before lenden's own.
 *
 * @type {[program: string, ...before: string[]]}
 */
export const tool = built ? [resolve(built)] : [process.execPath, launcher];

/** The same for a shell. */
export const toolLine = tool.map((word) => `'${word}'`).join(" ");
