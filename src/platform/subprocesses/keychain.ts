import type { KeychainAnswer, KeychainQuestion } from "../../config/secrets.ts";
import { processHost } from "../host.ts";

/** The program that asks the operating system's keychain; see config/secrets.ts for why it is one. */

const service = "lenden";
/** Anything else would be a silent fallback: the kernel's keyring forgets it all at the next boot. */
const options = { linux: { store: "secret-service" } } as const;

const { stdin, stdout } = processHost();

answered().then((answer) => stdout.write(JSON.stringify(answer)));

async function answered(): Promise<KeychainAnswer> {
  const question: KeychainQuestion = JSON.parse(await whole(stdin));
  let entry: import("@napi-rs/keyring").Entry;
  try {
    const { Entry } = await import("@napi-rs/keyring");
    entry = new Entry(service, question.entry, options);
  } catch (error) {
    return { missing: messageOf(error) };
  }
  try {
    return answerOf(question, entry);
  } catch (error) {
    return { refused: messageOf(error) };
  }
}

function answerOf(
  question: KeychainQuestion,
  entry: import("@napi-rs/keyring").Entry,
): KeychainAnswer {
  if (question.wanted === "store") {
    entry.setPassword(question.secret);
    return { done: true };
  }
  if (question.wanted === "remove")
    return entry.deleteCredential() ? { done: true } : { absent: true };
  const secret = entry.getPassword();
  return secret === null ? { absent: true } : { secret };
}

async function whole(stream: AsyncIterable<string | Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** The first line: what follows are the steps that a module was looked for in. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
