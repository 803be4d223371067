// Removes the variables that name an agent, so that tests that an agent runs see what they see in CI. A file of the
// runner imports it, before there is a worker.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../src/config/agents.ts");
for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/ariable(?:: | = )"([A-Z_]+)"/g))
  delete process.env[name];
