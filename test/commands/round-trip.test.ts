import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { builtEnv, ended } from "../support/lenden.ts";
import { closedPort } from "../support/server.ts";
import { tool, toolLine } from "../tool.js";

const script = resolve(import.meta.dirname, "round-trip.sh");
const shop = resolve(import.meta.dirname, "../shops/right.js");
const isMissing = spawnSync("curl", ["--version"]).status !== 0;

test.skipIf(isMissing)(
  "sandbox exec runs a store from the payment to the refund, with callbacks for both",
  async () => {
    const [listenPort, shopPort] = [await closedPort(), await closedPort()];
    const tellRefunds = ["--refund-callback-url", `http://127.0.0.1:${listenPort}/callback`];
    const folder = scratchFolder();
    const [program = "", ...words] = tool;
    const child = spawn(
      program,
      [...words, "sandbox", "exec", ...tellRefunds, "--", script, "node", shop],
      {
        env: {
          ...builtEnv({ LENDEN_CONFIG_DIR: folder, PATH: withLenden(folder) }),
          LISTEN_PORT: String(listenPort),
          SHOP_PORT: String(shopPort),
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    onTestFinished(() => void child.kill());
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    const lines: unknown[] = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const listening = { event: "listening", url: `http://127.0.0.1:${listenPort}` };
    const told = { event: "callback", verdict: "verified", forwarded: { status: 200 } };
    const paid = { kind: "payment", verified: { status: "Completed", amount: 1250.5 } };
    const repaid = { kind: "refund", verified: { status: "Completed", amount: 250.5 } };
    expect(lines).toMatchObject([
      ...[listening, { ...told, records: [paid] }],
      ...[listening, { ...told, records: [repaid] }],
      { paid: 1250.5, refunded: 250.5 },
    ]);
  },
);

/** A PATH on which `lenden` is the built tool. */
function withLenden(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const start = `#!/bin/sh\nexec ${toolLine} "$@"\n`;
  writeFileSync(join(bin, "lenden"), start, { mode: 0o700 });
  return `${bin}:${process.env.PATH}`;
}
