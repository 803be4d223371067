// Calls the operating system's keychain; config/secrets.ts says why it is a program of its own.
import { text } from "node:stream/consumers";
import { processHost } from "../host.ts";

/** What is read as JSON from the standard input. */
export type KeychainQuestion =
  | { wanted: "read" | "remove"; entry: string }
  | { wanted: "store"; entry: string; secret: string };

/** What is printed as JSON. */
export type KeychainAnswer =
  | { secret: string }
  | { done: true }
  /** There is no such entry. */
  | { absent: true }
  /** Why no keychain can be reached. */
  | { missing: string }
  /** Why the keychain did not do it. */
  | { refused: string };

/** The kernel's keyring would be a silent fallback that forgets everything at the next boot. */
const options = { linux: { store: "secret-service" } } as const;

const { stdin, stdout } = processHost();

text(stdin)
  .then((question) => answerTo(JSON.parse(question)))
  .then((answer) => stdout.write(JSON.stringify(answer)));

async function answerTo(question: KeychainQuestion): Promise<KeychainAnswer> {
  let entry: import("@napi-rs/keyring").Entry;
  try {
    const { Entry } = await import("@napi-rs/keyring");
    entry = new Entry("lenden", question.entry, options);
  } catch (error) {
    return { missing: firstLineOf(error) };
  }
  try {
    if (question.wanted === "store") {
      entry.setPassword(question.secret);
      return { done: true };
    }
    if (question.wanted === "remove")
      return entry.deleteCredential() ? { done: true } : { absent: true };
    const secret = entry.getPassword();
    return secret === null ? { absent: true } : { secret };
  } catch (error) {
    return { refused: firstLineOf(error) };
  }
}

/** The other lines list the directories in which the module was searched for. */
function firstLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
