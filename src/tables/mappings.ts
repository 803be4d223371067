import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { errorCode } from "../domain/error-code.ts";
import { usage } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { didYouMean } from "../domain/nearest.ts";
import { quoted } from "../domain/result.ts";
import { makeDirectory } from "../platform/files.ts";

const schema = z.object({
  /** What the columns are of: the fields of one mean nothing for the other. */
  kind: z.enum(["statement", "payroll"]),
  columns: z.array(z.object({ column: z.string(), field: z.string() })),
  /** The names of the other columns, of a payroll. */
  others: z.optional(z.array(z.string())),
  /** The names of those of the others that had amounts when the user chose the amount. */
  seen: z.optional(z.array(z.string())),
  /** Of a workbook, if the user named it. */
  sheet: z.optional(z.string()),
});

/** How the columns of a user's files are read, stored under a name. */
export type Mapping = z.infer<typeof schema>;

/** The stored mappings. Each has a file, so that no process overwrites another one's. */
export function openMappings(configFolder: string) {
  const directory = join(configFolder, "mappings");
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
  const names = (): string[] =>
    (ifThere(() => readdirSync(directory)) ?? [])
      .filter((file) => file.endsWith(".json"))
      .map((file) => decodeURIComponent(file.slice(0, -".json".length)))
      .sort();
  /** @throws Failure `usage` if it is damaged */
  const find = (name: string): Mapping | undefined => {
    const text = ifThere(() => readFileSync(fileOf(name), "utf8"));
    if (text === undefined) return undefined;
    const found = schema.safeParse(jsonIn(text)?.value);
    if (found.success) return found.data;
    throw usage(
      [`Cannot read the mapping ${quoted(name)}: ${fileOf(name)} is damaged.`],
      "Delete the file, then map the columns again.",
    );
  };
  return {
    names,
    find,

    /** @throws Failure `usage` if there is none, or if it is damaged */
    require(name: string): Mapping {
      const found = find(name);
      if (found) return found;
      const hint = "To list the mappings, run 'lenden mapping list'.";
      throw usage(
        [`The mapping ${quoted(name)} does not exist.${didYouMean(name, names())}`],
        hint,
      );
    },

    /** @returns what that did, in a sentence; undefined if the mapping is stored already */
    save(name: string, mapping: Mapping): string | undefined {
      const before = find(name);
      if (JSON.stringify(before) === JSON.stringify(schema.parse(mapping))) return undefined;
      makeDirectory(directory, 0o700);
      const written = join(directory, randomUUID());
      writeFileSync(written, JSON.stringify(mapping, null, 2), { mode: 0o600 });
      renameSync(written, fileOf(name));
      return `The mapping ${name} was ${before ? "changed" : "stored"}.`;
    },

    remove: (name: string): void => rmSync(fileOf(name), { force: true }),
  };
}
