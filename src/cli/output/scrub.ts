import { masked } from "../../domain/api-keys.ts";

/** Remembers the secrets of a run and takes them out of every text that leaves it. */
export interface Scrubber {
  learn(secret: string): void;
  /** The same for a signature, which is only good for a moment: the latest ones are remembered. */
  learnSignature(signature: string): void;
  scrub(text: string): string;
}

/** Of each request on the wire twice as many as there are places; memory does not grow with a batch. */
const rememberedSignatures = 256;
const signatureLength = 64;
/** Where a signature can be, in whichever way it is written. */
const longRun = new RegExp(`(?<![\\w+/-])[\\w+/-]{${signatureLength},}`, "g");

/** Makes a scrubber. It finds a secret also where it was quoted for JSON, a URL, base64 or hex. */
export function createScrubber(): Scrubber {
  const secrets = new Map<string, string>();
  const signatures: string[] = [];
  let learnedSignatures = 0;
  const withoutSignatures = (run: string): string => {
    // What is no longer than a signature is one, or holds none: ledgers are full of hashes.
    if (run.length === signatureLength) return signatures.includes(run) ? masked(run) : run;
    let clean = run;
    for (const signature of signatures) {
      for (const variant of variantsOf(signature))
        clean = clean.replaceAll(variant, () => masked(signature));
    }
    return clean;
  };
  return {
    learn: (secret) => {
      if (secret.length < 4) return;
      for (const variant of variantsOf(secret)) secrets.set(variant, masked(secret));
    },
    learnSignature: (signature) => {
      signatures[learnedSignatures % rememberedSignatures] = signature;
      learnedSignatures += 1;
    },
    scrub: (text) => {
      let clean = text;
      for (const [variant, mask] of secrets) clean = clean.replaceAll(variant, () => mask);
      return clean.replace(longRun, withoutSignatures);
    },
  };
}

function variantsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // An answer that is JSON is kept as a text of the ledger's own JSON: quoted twice.
  const once = JSON.stringify(secret).slice(1, -1);
  const quoted = [once, JSON.stringify(once).slice(1, -1), encodeURIComponent(secret)];
  const encoded = (["base64", "base64url", "hex"] as const).map((encoding) =>
    bytes.toString(encoding),
  );
  // Padding depends on what follows the secret in a longer text, so it is left out.
  return [...new Set([secret, ...quoted, ...encoded.map((text) => text.replace(/=+$/, ""))])];
}
