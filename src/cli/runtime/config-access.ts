import { candidateAccount, checkedAccount, noticesOf, recordsOwner } from "../../config/account.ts";
import {
  changeProfiles,
  type Profiles,
  profilesFile,
  readProfiles,
  requireProfile,
  type SecretSource,
} from "../../config/profiles.ts";
import type { KeychainSource } from "../../config/secrets.ts";
import { resolveSettings, type Settings, type Sourced } from "../../config/settings.ts";
import { type Environment, readPayoutSecret } from "../../domain/api-keys.ts";
import { once } from "../../domain/collect.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { showTimesIn } from "../../domain/local-time.ts";
import type { RunParts } from "./parts.ts";

interface ProfileCandidate {
  name: string | undefined;
  apiKey: SecretSource;
  payoutSecret?: SecretSource | undefined;
  environment: Environment | undefined;
  /** Default: the base URL of this run. */
  baseUrl?: string;
}

/** Settings, profiles, and the account of a run with its secrets, behind the environment lock. */
export type ConfigAccess = ReturnType<typeof createConfigAccess>;

/** Everything is read at most once a run, and every secret is made known to the scrubber. */
export function createConfigAccess({
  host,
  globals,
  scrubber,
  notice,
  leftMs,
}: Pick<RunParts, "host" | "globals" | "scrubber" | "notice" | "leftMs">) {
  const around = secretSurroundings(host, leftMs);
  const directory = host.folders.config;
  const stored = once(async () => readWithWarning(directory, notice));
  const settings = async (profile = globals.profile): Promise<Settings> =>
    settingsOf(profile, globals, host.env, await stored());
  const fetched = async (source: Settings["apiKey"], what: string, variable: string) => {
    if (!source) throw missing(what, variable, await settings());
    const secret = await fetchSecret(source, around);
    scrubber.learn(secret.value);
    return secret;
  };
  const baseUrlGiven = globals.baseUrl ?? host.env.LENDEN_BASE_URL;
  const learnIfText = (source: SecretSource | undefined): void => {
    if (source && "text" in source) scrubber.learn(source.text);
  };
  const learnSecrets = once(async () => {
    const { apiKey, payoutSecret } = await settings();
    learnIfText(apiKey?.value);
    learnIfText(payoutSecret?.value);
  });
  let sourcesOfSignature: string | undefined;

  return {
    /** The effective settings; those of another profile than the chosen one if a name is given. */
    settings,
    /**
     * The account that requests are sent to.
     *
     * @throws Failure `access` unless the key, the environment and the base URL agree
     */
    account: once(async () => {
      const own = await settings();
      const key = await fetched(own.apiKey, "API key", "LENDEN_API_KEY");
      const checked = checkedAccount(key, own, await stored());
      for (const text of noticesOf(own)) notice(text);
      return checked;
    }),
    /** The methods that were last retrieved for the profile, whatever their age. Needs no key. */
    knownMethods: async () => knownMethods(host.folders.data, await settings()),
    /** The account of a command that only reads the ledger. */
    recordsOwner: once(async () => recordsOwner(await settings())),
    /** @throws Failure `access` that lists the sources that were checked */
    payoutSecret: once(async () => {
      const { apiKey, payoutSecret: source } = await settings();
      const found = await fetched(source, "payout secret", "LENDEN_PAYOUT_SECRET");
      const key = apiKey?.source === source?.source ? "" : `, the API key from ${apiKey?.source}`;
      sourcesOfSignature = `The payout secret came from ${found.source}${key}.`;
      const read = readPayoutSecret(found.value);
      if (read.ok) return read.value;
      throw invalidSecret(found.source, read.problem);
    }),
    /** Where key and payout secret came from, as a sentence; undefined until a payout was signed. */
    sourcesOfSignature: () => sourcesOfSignature,
    /** Makes those secrets known to the scrubber that can be read without a keychain or a program. */
    learnSecrets,
    /** @throws Failure `usage`, without the text, if a text contains the API key or the payout secret */
    refuseSecrets: async (...texts: string[]): Promise<void> => {
      await learnSecrets();
      if (texts.some((text) => scrubber.scrub(text) !== text))
        throw usage(["The request contains the API key or the payout secret."], removeSecret);
    },
    /** True if a text contains a secret that this run has read. */
    holdsSecret: (text: string): boolean => scrubber.scrub(text) !== text,
    keychain: async () => (await import("../../config/secrets.ts")).createKeychain(around),
    profiles: {
      read: stored,
      /** @throws Failure `profile.not-found` */
      require: requireProfile,
      change: (change: (now: Profiles) => Profiles) => changeProfiles(directory, change, around),
      /** The path of the profile file. */
      file: profilesFile(directory),
      /** The base URL of the command line or the environment. */
      baseUrlGiven,
      /** @throws Failure `access` if the key, the environment and the base URL of a new profile do not agree */
      check: async (candidate: ProfileCandidate) => {
        const { apiKey: value, payoutSecret, baseUrl = baseUrlGiven } = candidate;
        learnIfText(payoutSecret);
        const apiKey = await fetchSecret({ value, source: givenBy(value) }, around);
        scrubber.learn(apiKey.value);
        return candidateAccount({ ...candidate, apiKey, baseUrl }, await stored(), notice);
      },
    },
  };
}

function givenBy(source: SecretSource): string {
  return "text" in source ? "your input" : "the profile";
}

function readWithWarning(directory: string, notice: RunParts["notice"]): Profiles {
  return readProfiles(directory, (message) => notice(message, "profiles.readable-by-all"));
}

/** Keychains and programs are loaded if a secret comes from one. */
async function fetchSecret(
  secret: Sourced<SecretSource>,
  around: KeychainSource,
): Promise<Sourced<string>> {
  const { value, source } = secret;
  if ("text" in value) return { value: value.text, source };
  return (await import("../../config/secrets.ts")).fetchSecret(secret, around);
}

/** What fetching a secret needs of a run. */
export function secretSurroundings(
  { env, sleep, keychain }: RunParts["host"],
  leftMs: RunParts["leftMs"],
): KeychainSource & { sleep(ms: number): Promise<void> } {
  return { env, sleep, leftMs, ...(keychain && { keychain }) };
}

/** The settings of a profile. People read times in the zone of the one that the run is for. */
function settingsOf(
  profile: string | undefined,
  globals: RunParts["globals"],
  env: RunParts["host"]["env"],
  stored: Profiles,
): Settings {
  const found = resolveSettings({ ...globals, profile }, env, stored);
  if (profile === globals.profile) showTimesIn(found.timeZone.value);
  return found;
}

async function knownMethods(directory: string, settings: Settings) {
  const { keptMethods } = await import("../../config/method-cache.ts");
  return keptMethods(directory, settings);
}

function invalidSecret(source: string, problem: string): Failure {
  const message = `Cannot use the payout secret from ${source}. ${problem}`;
  const hint =
    source === "LENDEN_PAYOUT_SECRET"
      ? `Set ${source} again.`
      : "Replace it with 'lenden profile rotate'.";
  return new Failure("account.invalid-secret", message, { hint });
}

function missing(what: string, variable: string, { profile }: Settings): Failure {
  const used = profile ? `profile ${profile.value} has none` : "no profile is in use";
  const trial = profile ? "" : " To try lenden without an account, run 'lenden sandbox start'.";
  const add = profile
    ? `add it with 'lenden profile rotate ${profile.value}'`
    : "add a profile with 'lenden profile add'";
  return new Failure("account.no-secret", `No ${what}: ${variable} is not set, and ${used}.`, {
    hint: `Set ${variable}, or ${add}. The merchant dashboard shows the ${what} under Settings → Development Info.${trial}`,
  });
}

const removeSecret = "Remove the key or the secret from the request.";
