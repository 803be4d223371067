import { Failure, updateHint } from "../domain/failure.ts";

/** What changes a schema into that of the next version, in each database. */
export interface SchemaStep {
  sqlite: string;
  postgres: string;
}

/** The first one changes version 1 into version 2. A step that was released never changes. */
const schemaSteps: readonly SchemaStep[] = [];

/** The version of `sqlite/schema.ts` and `postgres/schema.ts`. */
export const newestVersion = schemaSteps.length + 1;

/** The SQL that changes a schema of an earlier version into the newest one. */
export function sqlFrom(
  version: number,
  database: keyof SchemaStep,
  steps: readonly SchemaStep[] = schemaSteps,
): string {
  return steps
    .slice(version - 1)
    .map((step) => step[database])
    .join(";\n");
}

/** Why a ledger that another version of lenden wrote cannot be used. */
export function newerVersion(version: number): Failure {
  return new Failure(
    "ledger.newer-version",
    `Cannot use the ledger: it has version ${version}, and this lenden knows versions up to ${newestVersion}.`,
    { hint: updateHint },
  );
}
