import { join } from "node:path";
import { absolute } from "./xdg.ts";

/** Where files belong. */
export interface Folders {
  /** Profiles and secrets. */
  config: string;
  /** The ledger and what can be looked up again. */
  data: string;
  /** The person's own. */
  home: string;
  /** What may be deleted at any time. */
  cache: string;
}

/** By LENDEN_CONFIG_DIR and LENDEN_DATA_DIR, else by the platform's custom. */
export function foldersOf(
  env: Record<string, string | undefined>,
  machine: { platform: NodeJS.Platform; home: string },
): Folders {
  const { home } = machine;
  const local = env.LOCALAPPDATA ?? join(home, "AppData", "Local");
  const [config, data, cache] =
    machine.platform === "win32"
      ? [env.APPDATA ?? join(home, "AppData", "Roaming"), local, join(local, "Temp")]
      : [
          absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config"),
          absolute(env.XDG_DATA_HOME) ?? join(home, ".local", "share"),
          absolute(env.XDG_CACHE_HOME) ?? join(home, ".cache"),
        ];
  return {
    config: env.LENDEN_CONFIG_DIR ?? join(config, "lenden"),
    data: env.LENDEN_DATA_DIR ?? join(data, "lenden"),
    cache: join(cache, "lenden"),
    home,
  };
}
