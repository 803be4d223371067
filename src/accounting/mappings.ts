import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { errorCode } from "../domain/error-code.ts";
import { usage } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { makeDirectory } from "../platform/files.ts";
import { type ColumnMapping, statementFields } from "./statement.ts";

const column = z.object({ column: z.string(), field: z.enum(statementFields) });
const schema = z.record(z.string(), z.array(column));

/** How users read the columns of their statements, by names that they chose. */
export function openMappings(configFolder: string) {
  const file = join(configFolder, "statement-mappings.json");
  const read = () => {
    try {
      const found = schema.safeParse(jsonIn(readFileSync(file, "utf8"))?.value);
      if (found.success) return found.data;
      throw usage([`${file} is damaged.`], "Delete the file, then map the columns again.");
    } catch (error) {
      if (errorCode(error) === "ENOENT") return {};
      throw error;
    }
  };
  return {
    find: (name: string): ColumnMapping[] => new Map(Object.entries(read())).get(name) ?? [],
    save: (name: string, columns: z.infer<typeof column>[]): void => {
      makeDirectory(configFolder, 0o700);
      const text = JSON.stringify({ ...read(), [name]: columns }, null, 2);
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
  };
}
