import type { Fault } from "../api/contract/fault.ts";

/** The first rule that hits this request. `draw` gives a number from 0 to below 1. */
export function chooseFault(
  faults: readonly Fault[],
  endpoint: string,
  draw: () => number,
): Fault | undefined {
  return faults.find(
    (fault) =>
      (fault.endpoint === endpoint || fault.endpoint === "*") &&
      (fault.share === 1 || draw() < fault.share),
  );
}
