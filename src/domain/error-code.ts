/** The code of a system's error, such as ENOENT; undefined of anything that has none. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return error.code === undefined ? undefined : String(error.code);
}

/** Why the system rejected a file or a program, in words: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const code = errorCode(error) ?? "unknown";
  // Node's own words, for a code without one here: `EIO: i/o error, write`.
  const words =
    error instanceof Error ? /^E[A-Z0-9]+: ([^,]+)/.exec(error.message)?.[1] : undefined;
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : words;
  return reason === undefined ? code : `${reason} (${code})`;
}

const reasons: Record<string, string> = {
  ENOENT: "not found",
  ENOTDIR: "part of the path is not a directory",
  EISDIR: "it is a directory",
  EEXIST: "it is not a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EMFILE: "too many open files",
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "host not found",
};
