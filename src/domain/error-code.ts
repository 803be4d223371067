/** The code of a system's error, such as ENOENT; undefined of anything that has none. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return error.code === undefined ? undefined : String(error.code);
}
