import { masked } from "../contract/keys.ts";

/** Remembers the secrets of a run and takes them out of every text that leaves it. */
export interface Scrubber {
  learn(secret: string): void;
  scrub(text: string): string;
}

/** Makes a scrubber. It finds a secret also where it was quoted for JSON, a URL, base64 or hex. */
export function createScrubber(): Scrubber {
  const known = new Map<string, string>();
  return {
    learn: (secret) => {
      if (secret.length < 4) return;
      for (const variant of variantsOf(secret)) known.set(variant, masked(secret));
    },
    scrub: (text) => {
      let clean = text;
      for (const [variant, mask] of known) clean = clean.replaceAll(variant, () => mask);
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
  return [secret, ...quoted, ...encoded.map((text) => text.replace(/=+$/, ""))];
}
