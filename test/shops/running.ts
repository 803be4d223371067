import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { AtEnd } from "../support/helpers.ts";

/** A shop of this folder in a process of its own, on the account of a merchant. */
export async function openShop(
  [file, ...args]: [file: string, ...args: string[]],
  env: Record<string, string>,
  atEnd: AtEnd,
): Promise<{ url: string; callback: string; orders: string }> {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, file), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  atEnd(async () => {
    child.kill();
  });
  const [url]: unknown[] = await once(createInterface({ input: child.stdout }), "line");
  return { url: String(url), callback: `${url}/callback`, orders: `${url}/orders/{id}` };
}
