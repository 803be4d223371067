import type { Profile, Profiles } from "../../cli/command/context.ts";
import { repeatable } from "../../domain/api-keys.ts";
import { usage } from "../../domain/failure.ts";
import { didYouMean } from "../../domain/nearest.ts";

/** The profile of a name, or the failure that says that there is none. */
export function existing(name: string, { profiles }: Profiles): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return found;
  const meant = didYouMean(name, Object.keys(profiles));
  throw usage(
    [`There is no profile ${repeatable(name)}.${meant}`],
    "'lenden profile list' shows what there is.",
  );
}
