import * as z from "zod/mini";
import { readAmount } from "../domain/amount.ts";
import { environments } from "../domain/api-keys.ts";
import { numberFormats } from "../domain/mobile.ts";

/** A secret in a profile: the text itself, the command that prints it, or the keychain's entry. */
const secretSource = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ command: z.string() }),
  z.strictObject({ keychain: z.string() }),
]);
export type SecretSource = z.infer<typeof secretSource>;

const profile = z.strictObject({
  environment: z.enum(environments),
  baseUrl: z.string(),
  /** The ledger's account that the profile's keys belong to. */
  account: z.optional(z.string()),
  apiKey: z.optional(secretSource),
  payoutSecret: z.optional(secretSource),
  redirectUrl: z.optional(z.string()),
  callbackUrl: z.optional(z.string()),
  method: z.optional(z.string()),
  numberFormat: z.optional(z.enum(numberFormats)),
  confirmAbove: z.optional(z.string().check(z.refine((text) => readAmount(text).ok))),
});
/** A named account. */
export type Profile = z.infer<typeof profile>;

/** The whole file. */
export const profilesSchema = z.strictObject({
  version: z.literal(1),
  current: z.optional(z.string()),
  profiles: z.record(z.string(), profile),
});
export type Profiles = z.infer<typeof profilesSchema>;
