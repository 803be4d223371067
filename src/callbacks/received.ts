/** A request as it came: nothing of it is believed. */
export interface Received {
  method: string;
  /** Path and query. */
  target: string;
  /** In lower case, without what could be a secret of somebody's. */
  headers: Record<string, string>;
  body: Uint8Array;
}
