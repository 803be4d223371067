import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { errorCode } from "../domain/error-code.ts";
import { usage } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { makeDirectory } from "../platform/files.ts";
import { type ColumnMapping, statementFields } from "./fields.ts";

const schema = z.array(z.object({ column: z.string(), field: z.enum(statementFields) }));

/** How users read the columns of their statements. Each has a file, so that no process overwrites another one's. */
export function openMappings(configFolder: string) {
  const directory = join(configFolder, "statement-mappings");
  const fileOf = (name: string) => join(directory, `${encodeURIComponent(name)}.json`);
  /** The result, or undefined if the file does not exist. */
  const ifThere = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  };
  return {
    names: (): string[] =>
      (ifThere(() => readdirSync(directory)) ?? [])
        .filter((file) => file.endsWith(".json"))
        .map((file) => decodeURIComponent(file.slice(0, -".json".length)))
        .sort(),

    find(name: string): ColumnMapping[] {
      const text = ifThere(() => readFileSync(fileOf(name), "utf8"));
      if (text === undefined) return [];
      const found = schema.safeParse(jsonIn(text)?.value);
      if (found.success) return found.data;
      throw usage(
        [`Cannot read the saved columns: ${fileOf(name)} is damaged.`],
        "Delete the file, then map the columns again.",
      );
    },

    save(name: string, columns: z.infer<typeof schema>): void {
      makeDirectory(directory, 0o700);
      const written = join(directory, randomUUID());
      writeFileSync(written, JSON.stringify(columns, null, 2), { mode: 0o600 });
      renameSync(written, fileOf(name));
    },

    remove: (name: string): void => rmSync(fileOf(name), { force: true }),
  };
}
