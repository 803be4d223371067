import { masked } from "../contract/keys.ts";

/** Remembers the secrets of a run and takes them out of every text that leaves it. */
export interface Scrubber {
  learn(secret: string): void;
  /** The same for a signature, which is only good for a moment: the latest ones are remembered. */
  learnSignature(signature: string): void;
  scrub(text: string): string;
}

/** More than are ever under way at once, so that memory and time do not grow with a batch. */
const rememberedSignatures = 128;

/** Makes a scrubber. It finds a secret also where it was quoted for JSON, a URL, base64 or hex. */
export function createScrubber(): Scrubber {
  const secrets = new Map<string, string>();
  const signatures = new Map<string, string[]>();
  return {
    learn: (secret) => {
      if (secret.length < 4) return;
      for (const variant of variantsOf(secret)) secrets.set(variant, masked(secret));
    },
    learnSignature: (signature) => {
      signatures.set(signature, variantsOf(signature));
      const [oldest] = signatures.keys();
      if (signatures.size > rememberedSignatures && oldest) signatures.delete(oldest);
    },
    scrub: (text) => {
      let clean = text;
      for (const [variant, mask] of secrets) clean = clean.replaceAll(variant, () => mask);
      if (!/[\w+/-]{64}/.test(clean)) return clean; // shorter than any signature
      for (const [signature, variants] of signatures) {
        for (const variant of variants) clean = clean.replaceAll(variant, () => masked(signature));
      }
      return clean;
    },
  };
}

function variantsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const quoted = [JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  const encoded = (["base64", "base64url", "hex"] as const).map((encoding) =>
    bytes.toString(encoding),
  );
  // Padding depends on what follows the secret in a longer text, so it is left out.
  return [...new Set([secret, ...quoted, ...encoded.map((text) => text.replace(/=+$/, ""))])];
}
