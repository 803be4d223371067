import { setFlagsFromString } from "node:v8";

/**
 * Node 20 starts to optimise undici's HTTP parser (WebAssembly) at the first answer and waits for
 * that at its end: some 80 ms of a command that makes one call. A batch still reaches the budget.
 * Later Nodes do not wait.
 */
export function avoidWaitingForWasm(nodeVersion: string): void {
  if (nodeVersion.startsWith("v20.")) setFlagsFromString("--wasm-tiering-budget=100000000");
}
