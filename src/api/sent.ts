import { subscribe } from "node:diagnostics_channel";

/** The requests whose head reached a socket. */
const headsSent = new WeakSet<object>();
/** Told of the request that undici makes next. */
let onCreate: ((made: object) => void) | undefined;

subscribe("undici:request:create", (event) => {
  const made = requestOf(event);
  if (made) onCreate?.(made);
});
subscribe("undici:client:sendHeaders", (event) => {
  const made = requestOf(event);
  if (made) headsSent.add(made);
});

/**
 * Starts a request and tells whether it left. Error codes cannot tell (ECONNRESET comes both ways),
 * undici's channels can: it makes its request while it is called, and announces that very object
 * when the head goes out. A request that was never seen made counts as sent.
 */
export function track(start: () => void): () => boolean {
  let own: object | undefined;
  onCreate = (made) => {
    own ??= made; // a tunnel through a proxy makes another one, after ours
  };
  start();
  onCreate = undefined;
  return () => own === undefined || headsSent.has(own);
}

function requestOf(event: unknown): object | undefined {
  if (typeof event !== "object" || event === null || !("request" in event)) return undefined;
  return typeof event.request === "object" && event.request !== null ? event.request : undefined;
}
