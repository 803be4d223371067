import { errorSchema, schemas } from "../../src/cli/output/json-schema.ts";
import { entries } from "../../src/commands/index.ts";

/**
 * Compares what a command printed with --json with its documented schema, after every run of a test. Only
 * records of the API and lists of them may have fields that the schema does not list.
 */
export async function checkJsonOutput(
  args: string[],
  { stdout, stderr, code }: { stdout: string; stderr: string; code: number },
): Promise<void> {
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  const isJson = options.some(
    (word, at) =>
      word === "--json" || (word === "json" && /^(-o|--output)$/.test(args[at - 1] ?? "")),
  );
  if (!isJson || options.some((word) => /^(-q|--quiet|--help|-v|--verbose|help)$/.test(word)))
    return;
  if (code !== 0) for (const line of stderr.split("\n")) checkError(line);
  const words = options.filter((word) => !word.startsWith("-"));
  const entry = entries.find(
    ({ name, load }) => load && `${words.join(" ")} `.startsWith(`${name} `),
  );
  const { list, output } = (await entry?.load?.()) ?? {};
  if (!output || stdout.trim() === "") return;
  const schema = output(schemas);
  for (const document of documentsIn(stdout, list === true)) {
    const { error } = schema.safeParse(document);
    if (error)
      throw new Error(
        `lenden ${entry?.name} --json differs from its schema: ${error.message}\n${JSON.stringify(document)}`,
      );
  }
}

function checkError(line: string): void {
  if (!line.startsWith('{"error":')) return;
  const { error } = errorSchema.safeParse(JSON.parse(line));
  if (error) throw new Error(`an error differs from its schema: ${error.message}\n${line}`);
}

function documentsIn(text: string, isList: boolean): unknown[] {
  try {
    const whole: unknown = JSON.parse(text);
    return isList && Array.isArray(whole) ? whole : [whole];
  } catch {
    // One document per line. The output of a run that was stopped may end in the middle of one.
    const lines = text.split("\n").slice(0, -1);
    return lines
      .filter((line) => line.startsWith("{"))
      .map((line): unknown => JSON.parse(line.replace(/,$/, "")));
  }
}
