import { entries } from "../../src/commands/index.ts";
import { errorSchema, jsonSchemas } from "../../src/commands/json-schemas.ts";

/**
 * Compares what a command printed with --json with its documented schema, which allows no field that it does
 * not list. Every run of a test is compared, so that no command can print an undocumented field.
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
  const schema = entry && jsonSchemas[entry.name];
  if (!schema || stdout.trim() === "") return;
  const { list } = (await entry.load?.()) ?? {};
  for (const document of documentsIn(stdout, list === true)) {
    const { error } = schema.safeParse(document);
    if (error)
      throw new Error(
        `lenden ${entry.name} --json differs from its schema: ${error.message}\n${JSON.stringify(document)}`,
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
    const lines = text.split("\n").filter((line) => line.startsWith("{"));
    return lines.flatMap((line): unknown[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return []; // The output was cut, as a test of pipes does.
      }
    });
  }
}
