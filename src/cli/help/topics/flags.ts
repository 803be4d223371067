import { globalFlags } from "../../args/globals.ts";
import { flagRow } from "../commands.ts";
import { type Page, rows, text } from "../page.ts";

export const page: Page = [
  text("The flags that every command takes, before or after its name."),
  {
    kind: "examples",
    examples: [
      { line: "lenden methods --json", says: "one JSON document" },
      { line: "lenden --timeout 20s methods -q", says: "the ids alone, within 20 seconds" },
    ],
  },
  rows("Flags", Object.values(globalFlags).map(flagRow)),
  text(
    "A value may follow a space or an equals sign: --timeout 20s, --timeout=20s. After -- everything is an argument. The same flag twice with different values is an error (exit 2), and so is a flag that there is not. No flag ever takes a key or a secret: they would be in your shell's history.",
  ),
];
