// Builds dist/. Prints nothing but warnings and errors, on stderr: `npm pack --json` runs it, too.
import { build } from "rolldown";
import config from "./rolldown.config.js";

await build(config);
