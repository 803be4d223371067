import { isAbsolute, join } from "node:path";

export interface Folders {
  /** Profiles and secrets. */
  config: string;
  /** The ledger, and what can be retrieved again. */
  data: string;
  home: string;
  /** For files that may be deleted at any time. */
  cache: string;
}

/** Named by LENDEN_CONFIG_DIR and LENDEN_DATA_DIR, or else by the platform's custom. */
export function foldersOf(
  env: Record<string, string | undefined>,
  { platform, home }: { platform: NodeJS.Platform; home: string },
): Folders {
  const local = env.LOCALAPPDATA ?? join(home, "AppData", "Local");
  const [config, data, cache] =
    platform === "win32"
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

/** The XDG specification ignores relative directories: each working directory would have another ledger. */
export function absolute(named: string | undefined): string | undefined {
  return named !== undefined && isAbsolute(named) ? named : undefined;
}
