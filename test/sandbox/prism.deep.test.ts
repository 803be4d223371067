import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratchFolder, until } from "../support/helpers.ts";
import { closedPort } from "../support/server.ts";
import { requestAll } from "./all-endpoints.ts";
import { clientOf, start } from "./running.ts";

const version = "5.16.0";

/** Prism from the registry; undefined if it cannot be installed. LENDEN_BENCH_DIR keeps it. */
function installedPrism(): string | undefined {
  const folder = join(process.env.LENDEN_BENCH_DIR ?? scratchFolder(), `prism-${version}`);
  const program = join(folder, "node_modules/.bin/prism");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const line = ["install", "--no-audit", "--no-fund", `@stoplight/prism-cli@${version}`];
  try {
    execFileSync("npm", line, { cwd: folder, stdio: "ignore", timeout: 180_000 });
    return program;
  } catch {
    return undefined;
  }
}

test("a Prism proxy finds no violation in requests to all endpoints", async (context) => {
  const prism = installedPrism();
  if (prism === undefined) return context.skip("Prism cannot be installed");
  const sandbox = await start();
  const file = join(scratchFolder(), "openapi.json");
  writeFileSync(file, (await sandbox.call("//openapi.json")).text);
  const port = await closedPort();
  const line = ["proxy", file, sandbox.baseUrl, "-p", String(port), "-h", "127.0.0.1"];
  const child = spawn(prism, line, { stdio: "ignore" });
  onTestFinished(() => void child.kill());
  const proxied = clientOf({ ...sandbox, baseUrl: `http://127.0.0.1:${port}` });
  await until(() =>
    proxied.get("/sandbox/info").then(
      ({ status }) => status === 200,
      () => false,
    ),
  );

  const exchanges = await requestAll(proxied);

  expect(exchanges).toHaveLength(23);
  expect(exchanges.map(({ reply }) => reply.headers["sl-violations"]).filter(Boolean)).toEqual([]);
  const unknown = await proxied.post("/payment/create", { amount: "1" });
  expect(String(unknown.headers["sl-violations"])).toContain('"request"');
});
