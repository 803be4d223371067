import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { errorCode } from "../domain/error-code.ts";
import { Failure, usage } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { makeDirectory } from "../platform/files.ts";

const schema = z.record(z.string(), z.array(z.object({ column: z.string(), field: z.string() })));
type Mappings = z.infer<typeof schema>;

/** The columns of statements, by the names of mappings that users gave. */
export function openMappings(configFolder: string) {
  const file = join(configFolder, "statement-mappings.json");
  const read = (): Mappings => {
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
    find: (name: string) => (Object.hasOwn(read(), name) ? read()[name] : undefined),
    save: (name: string, columns: Mappings[string]): void => {
      const all = { ...read(), [name]: columns };
      try {
        makeDirectory(configFolder, 0o700);
        writeFileSync(`${file}.new`, JSON.stringify(all, null, 2), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } catch (cause) {
        const why = errorCode(cause) ?? "unknown";
        throw new Failure("file.unusable", `Cannot write ${file} (${why}).`, {
          hint: "Check the directory and its permissions, then run the same command again.",
          cause,
        });
      }
    },
  };
}
