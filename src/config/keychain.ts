import * as z from "zod/mini";
import { Failure } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import type { Surroundings } from "./program.ts";

/**
 * The operating system's keychain. Its own functions block the thread that calls them, sometimes
 * for as long as a window waits for a password: so it is asked by a program of its own, which can be
 * left alone at any moment.
 */
export interface Keychain {
  /** @throws Failure `access` when it gives nothing, the entry being gone among the reasons */
  read(entry: string): Promise<string>;
  keep(entry: string, secret: string): Promise<void>;
  /** False where no keychain can be reached; an entry that is not there any more is as good as forgotten. */
  forget(entry: string): Promise<boolean>;
}

/** The program that asks it, if there is one, and the world it runs in. */
export interface KeychainSource extends Surroundings {
  keychain?: { program: string; args: string[] };
}

/** What the program is asked, as one JSON text on its standard input. */
export type KeychainQuestion =
  | { wanted: "read" | "forget"; entry: string }
  | { wanted: "keep"; entry: string; secret: string };

const answer = z.union([
  z.strictObject({ secret: z.string() }),
  z.strictObject({ done: z.literal(true) }),
  /** There is no such entry. */
  z.strictObject({ absent: z.literal(true) }),
  /** There is no keychain, or no way to it: why. */
  z.strictObject({ missing: z.string() }),
  /** There is one, and it did not do it: why. */
  z.strictObject({ refused: z.string() }),
]);
/** What it answers, as one JSON text on its standard output. */
export type KeychainAnswer = z.infer<typeof answer>;

const patienceMs = 3_000;

export function openKeychain({ keychain, env, sleep }: KeychainSource): Keychain {
  if (!keychain) return none;
  const source = { keychain, env, sleep };
  return {
    read: async (entry) => {
      const answered = await asked(source, { wanted: "read", entry });
      if ("secret" in answered) return answered.secret;
      throw failureOf(answered, entry);
    },
    keep: async (entry, secret) => {
      const answered = await asked(source, { wanted: "keep", entry, secret });
      if (!("done" in answered)) throw failureOf(answered, entry);
    },
    forget: async (entry) => {
      const answered = await asked(source, { wanted: "forget", entry });
      if ("done" in answered || "absent" in answered) return true;
      if ("missing" in answered) return false;
      throw failureOf(answered, entry);
    },
  };
}

/** For a lenden without that program: the single executable has none. */
const none: Keychain = {
  read: async () => {
    throw withoutKeychain();
  },
  keep: async () => {
    throw withoutKeychain();
  },
  forget: async () => false,
};

function withoutKeychain(): Failure {
  return new Failure("access", "This lenden is one file, and comes without the keychain.", {
    hint: "Keep the secrets in lenden's own file, with 'lenden profile add <name> --replace' and without --keychain; or name a program that prints them, with --key-command and --secret-command. The lenden that npm installs has the keychain.",
  });
}

async function asked(
  { keychain, env, sleep }: Required<KeychainSource>,
  question: KeychainQuestion,
): Promise<KeychainAnswer> {
  const input = JSON.stringify(question);
  const { printedBy } = await import("./program.ts");
  const printed = await printedBy({ ...keychain, env, sleep, input, patienceMs });
  if ("fault" in printed) return { refused: printed.fault };
  const read = answer.safeParse(jsonIn(printed.text)?.value);
  return read.success ? read.data : { refused: "an answer that makes no sense" };
}

function failureOf(answered: KeychainAnswer, entry: string): Failure {
  if ("missing" in answered)
    return new Failure("access", `No keychain can be reached here (${answered.missing}).`, {
      hint: "Run it where you are logged in with one, such as GNOME Keyring or KWallet; or keep the secrets in lenden's own file, with 'lenden profile add <name> --replace' and without --keychain.",
    });
  if ("absent" in answered)
    return new Failure("access", `The keychain has no entry ${entry}; somebody deleted it.`, {
      hint: "Add the profile again with 'lenden profile add <name> --keychain --replace'.",
    });
  const why = "refused" in answered ? answered.refused : "an answer that makes no sense";
  return new Failure("access", `The keychain did not do what lenden asked (${why}).`, {
    hint: "Is it locked, or is a window waiting for its password? Unlock it, allow lenden to use it, then run the same command again.",
  });
}
