import { setFlagsFromString } from "node:v8";

const flag = "--wasm-tiering-budget";
const usualBudget = 1_800_000;
let isSet = false;

/**
 * Node 20 starts to optimise undici's HTTP parser (WebAssembly) at the first answer and waits for
 * that at its end: some 80 ms of a command that makes one call. A batch still reaches the budget.
 * Later Nodes do not wait.
 *
 * While a flag is other than usual, V8 takes no compiled code that was kept, neither Node's own nor
 * ours: so it is set when all is loaded, and set back before what was compiled is kept.
 */
export function avoidWaitingForWasm(nodeVersion: string): void {
  if (isSet || !nodeVersion.startsWith("v20.")) return;
  setFlagsFromString(`${flag}=100000000`);
  isSet = true;
}

/** Sets back what was set for a call. */
export function restoreFlags(): void {
  if (isSet) setFlagsFromString(`${flag}=${usualBudget}`);
}
