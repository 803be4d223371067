import { usage } from "../../failure.ts";
import type { Profile, Profiles } from "../../frame/context.ts";

/** The profile of a name, or the failure that says that there is none. */
export function existing(name: string, { profiles }: Profiles): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return found;
  throw usage([`There is no profile ${name}.`], "'lenden profile list' shows what there is.");
}
