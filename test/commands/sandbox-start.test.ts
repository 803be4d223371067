import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden, startBuilt } from "../support/lenden.ts";

test.each(["SIGINT", "SIGTERM"] as const)(
  "sandbox start prints its URL once it accepts requests, stores the profile local, and ends with 0 after %s",
  async (signal) => {
    const folder = scratchFolder();
    const child = startBuilt(["sandbox", "start", "--port", "0", "--json"], {
      LENDEN_CONFIG_DIR: folder,
    });
    const [line]: unknown[] = await once(createInterface({ input: child.stdout }), "line");
    const started: Record<string, unknown> = JSON.parse(String(line));
    expect(Object.keys(started)).toEqual(["baseUrl", "apiKey", "payoutSecret", "pid"]);
    expect(started.pid).toBe(child.pid);
    const methods = await lenden(["methods", "--profile", "local", "-q"], {
      env: { LENDEN_CONFIG_DIR: folder },
    });
    expect(methods).toEqual({
      code: 0,
      stdout: "665f1c2ab8e4\n665f1c2ab8e5\n665f1c2ab8e6\n",
      stderr: "",
    });
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);
