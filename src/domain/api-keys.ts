import { err, ok, type Result } from "./result.ts";

export const environments = ["sandbox", "production"] as const;
export type Environment = (typeof environments)[number];

/** An API key; its prefix decides the environment (docs/api.md §5). */
export interface ApiKey {
  text: string;
  environment: Environment;
}

const prefixes = { sandbox: "sk_sandbox_", production: "public-" } as const;

/** Reads a key by its prefix alone: what follows it is shown as a shape, not as a rule. */
export function readApiKey(text: string): Result<ApiKey> {
  if (isInQuotes(text)) return err(`The API key is in quotes. ${removeQuotes}`);
  const environment = environments.find((one) => text.startsWith(prefixes[one]));
  if (!environment)
    return err("An API key begins with sk_sandbox_ (sandbox) or public- (production).");
  if (!isHeaderText(text))
    return err("The API key contains spaces or control characters. Copy it again.");
  return ok({ text, environment });
}

/** Reads a payout secret: any single line of visible text, since its shape is not shown. */
export function readPayoutSecret(text: string): Result<string> {
  if (isInQuotes(text)) return err(`The payout secret is in quotes. ${removeQuotes}`);
  if (readApiKey(text).ok) return err("The text is an API key, not the payout secret.");
  if (/^[^\p{C}]{1,512}$/u.test(text) && text.trim() === text) return ok(text);
  return err(
    "The payout secret is empty, or contains control characters or spaces at its ends. Copy it again.",
  );
}

/** True for a text whose quotes belong to a file: `docker --env-file`, unlike a shell, does not remove them. */
export function isInQuotes(text: string): boolean {
  return /^["'`“‘].*["'`”’]$/su.test(text);
}

export const removeQuotes = "Remove them: 'docker --env-file', for example, passes quotes on.";

/** A secret as people may see it: its public prefix and its last three characters. */
export function masked(secret: string): string {
  const prefix = Object.values(prefixes).find((one) => secret.startsWith(one)) ?? "";
  const tail = secret.length - prefix.length >= 12 ? secret.slice(-3) : "";
  return `${prefix}…${tail}`;
}

/** Headers as they may be shown. A signature is as good as the payout it signs: it is masked too. */
export function withoutSecrets(headers: Record<string, string>): Record<string, string> {
  const secret = ["x-api-key", "x-payout-signature", "authorization", "proxy-authorization"];
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secret.includes(name.toLowerCase()) ? masked(value) : value,
    ]),
  );
}

/** A profile's name as it may be shown: it may be a pasted secret. */
export function repeatable(name: string): string {
  return /^[\w-]{1,24}$/.test(name) && !readApiKey(name).ok ? name : "of that name";
}

function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}
