import { subscribe } from "node:diagnostics_channel";

/** The requests whose head reached a socket. */
const headsSent = new WeakSet<object>();
let onCreate: ((created: object) => void) | undefined;

subscribe("undici:request:create", (event) => {
  const created = requestOf(event);
  if (created) onCreate?.(created);
});
subscribe("undici:client:sendHeaders", (event) => {
  const sent = requestOf(event);
  if (sent) headsSent.add(sent);
});

/**
 * Starts a request and tells later whether its head was sent. Error codes cannot tell (ECONNRESET comes
 * both ways), undici's channels can: undici announces the request while `start` runs, and the same object
 * when its head is written to a socket. A request that was not announced counts as sent.
 */
export function track(start: () => void): () => boolean {
  let own: object | undefined;
  onCreate = (created) => {
    own ??= created; // a tunnel through a proxy creates another request, after this one
  };
  try {
    start();
  } finally {
    onCreate = undefined;
  }
  return () => own === undefined || headsSent.has(own);
}

function requestOf(event: unknown): object | undefined {
  if (typeof event !== "object" || event === null || !("request" in event)) return undefined;
  return typeof event.request === "object" && event.request !== null ? event.request : undefined;
}
