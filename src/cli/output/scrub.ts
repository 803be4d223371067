import { masked } from "../../domain/api-keys.ts";

/** Knows the secrets of a run and masks them in all output. */
export type Scrubber = ReturnType<typeof createScrubber>;

/** Twice as many as requests can be in flight; memory does not grow with a batch. */
const rememberedSignatures = 256;
const signatureLength = 64;
/** Texts that may contain a signature, in any encoding. */
const longRun = new RegExp(`(?<![\\w+/-])[\\w+/-]{${signatureLength},}`, "g");

/** Finds a secret also if it is encoded as JSON, URL, base64 or hex. */
export function createScrubber() {
  const secrets = new Map<string, string>();
  const passwords = new Map<string, string>();
  const signatures: string[] = [];
  let learnedSignatures = 0;
  const withoutSignatures = (run: string): string => {
    // A text of exactly this length is a signature or contains none; ledgers are full of hashes.
    if (run.length === signatureLength) return signatures.includes(run) ? masked(run) : run;
    let clean = run;
    for (const signature of signatures) {
      for (const variant of variantsOf(signature))
        clean = clean.replaceAll(variant, () => masked(signature));
    }
    return clean;
  };
  const scrub = (text: string): string =>
    masking(text, secrets).replace(longRun, withoutSignatures);
  return {
    learn: (secret: string): void => learnIn(secrets, secret),
    /**
     * Learns the password of a ledger, which people choose. It may be a common word, so only printed texts are
     * masked: a record is stored as it is, and a request that contains the word is sent.
     *
     * @param shown the URL of the ledger, which is shown anyway; a word that is part of it stays
     */
    learnPassword: (password: string, shown: string): void => {
      if (!shown.includes(password)) learnIn(passwords, password);
    },
    /** The latest signatures are kept: each is valid for minutes only. */
    learnSignature: (signature: string): void => {
      signatures[learnedSignatures % rememberedSignatures] = signature;
      learnedSignatures += 1;
    },
    /** For what is stored or sent. */
    scrub,
    /** For what is printed. */
    scrubPrinted: (text: string): string => masking(scrub(text), passwords),
  };
}

function learnIn(secrets: Map<string, string>, secret: string): void {
  if (secret.length < 4) return;
  for (const variant of variantsOf(secret)) secrets.set(variant, masked(secret));
}

function masking(text: string, secrets: Map<string, string>): string {
  let clean = text;
  for (const [variant, mask] of secrets) clean = clean.replaceAll(variant, () => mask);
  return clean;
}

function variantsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // The ledger stores a JSON response as a text of its own JSON: quoted twice.
  const once = JSON.stringify(secret).slice(1, -1);
  const quoted = [once, JSON.stringify(once).slice(1, -1), encodeURIComponent(secret)];
  const encoded = (["base64", "base64url", "hex"] as const).map((encoding) =>
    bytes.toString(encoding),
  );
  // Padding depends on what follows the secret in a longer text, so it is omitted.
  return [...new Set([secret, ...quoted, ...encoded.map((text) => text.replace(/=+$/, ""))])];
}
