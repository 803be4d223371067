import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** As V8 does it sooner or later by itself. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}
