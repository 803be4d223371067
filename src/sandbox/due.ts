import type { Store } from "./store.ts";

/**
 * A record completes by itself when somebody looks at it, and a merchant who waits for a callback
 * does not look: this does. Payouts have no callbacks. Returns what ends it.
 */
export function watchDue(
  { payments, refunds }: Store,
  autoCompleteMs: number | undefined,
): () => void {
  if (autoCompleteMs === undefined) return () => {};
  const timer = setInterval(() => {
    payments.completeDue();
    refunds.completeDue();
  }, lookEveryMs);
  return () => clearInterval(timer);
}

const lookEveryMs = 100;
