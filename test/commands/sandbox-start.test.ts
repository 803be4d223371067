import { once } from "node:events";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden, startBuilt } from "../support/lenden.ts";
import { payoutNumber } from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";

/** Starts the built tool on any free port, until `stop`. */
async function startSandbox(folder: string, ...more: string[]) {
  const line = ["sandbox", "start", "--port", "0", "--json", ...more];
  const child = startBuilt(line, { LENDEN_CONFIG_DIR: folder });
  let stderr = "";
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const [text]: unknown[] = await once(createInterface({ input: child.stdout }), "line");
  const started: Record<string, unknown> = JSON.parse(String(text));
  const stop = async (signal: NodeJS.Signals = "SIGINT"): Promise<unknown[]> => {
    child.kill(signal);
    return once(child, "exit");
  };
  return { child, started, stop, stderr: () => stderr };
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "sandbox start prints its URL once it accepts requests, stores the profile local, and ends with 0 after %s",
  async (signal) => {
    const folder = scratchFolder();
    const { child, started, stop, stderr } = await startSandbox(folder);
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
    expect(await stop(signal)).toEqual([0, null]);
    // Requests are logged in a terminal alone.
    expect(stderr()).toBe("");
  },
);

test("a sandbox that is started again on its --data after kill -9 is the same account, on whatever port", async () => {
  const folder = scratchFolder();
  const run = async (line: string[]) => {
    const env = { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
    const { code, stdout, stderr } = await lenden([...line, "--profile", "local"], { env });
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const seen: Record<string, unknown>[] = [];
  for (const day of [1, 2]) {
    const { started, stop } = await startSandbox(folder, "--data", join(folder, "sandbox.db"));
    await run(payoutNumber(day, `DAY-${day}`, "--json"));
    await run(["payout", "get", `@${day}`, "--json"]);
    seen.push(started);
    await stop(day === 1 ? "SIGKILL" : "SIGINT");
  }
  const [first, second] = seen;
  expect(second).toMatchObject({ apiKey: first?.apiKey, payoutSecret: first?.payoutSecret });
  expect(second?.baseUrl).not.toBe(first?.baseUrl);
  const payouts: { account: string }[] = JSON.parse(await run(["payout", "list", "--json"]));
  expect(payouts.map(({ account }) => account)).toEqual(Array(2).fill(payouts[0]?.account));
});

test("a second sandbox on the same --data is rejected until the first one ends, however it ends", async () => {
  const folder = scratchFolder();
  const file = join(folder, "sandbox.db");
  const env = { LENDEN_CONFIG_DIR: scratchFolder() };
  const same: [string, string, ...string[]][] = [
    ["start", file],
    ["exec", relative(process.cwd(), file), "--", "true"],
    ["start", join(folder, ".", "sandbox.db")],
  ];
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    const first = await startSandbox(folder, "--data", file);
    for (const [verb, name, ...rest] of same) {
      const line = ["sandbox", verb, "--port", "0", "--data", name, ...rest];
      const { code, stdout, stderr } = await lenden(line, { env });
      expect([code, stdout]).toEqual([7, ""]);
      expect(stderr).toContain("another sandbox uses");
    }
    await first.stop(signal);
  }
  const { started, stop } = await startSandbox(folder, "--data", file);
  expect(started.baseUrl).toMatch(/^http/);
  await stop();
});

test("sandbox start logs each request in a terminal, on one line without secrets, unless --quiet", async () => {
  for (const [flags, isLogged] of [
    [[], true],
    [["--quiet"], false],
    [["--json"], false],
  ] as const) {
    const terminal = openPrompts(["sandbox", "start", "--port", "0", "--seed", "7", ...flags]);
    await terminal.shows(/http:\/\/127\.0\.0\.1:\d+/);
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.stdout()) ?? [];
    const [key = ""] = /sk_sandbox_[\w-]+/.exec(terminal.stdout()) ?? ["sk_sandbox_"];
    for (const path of ["/payment/methods", `/payment/retrieve/${key}%1b%5b2J%0d%0a`])
      await fetch(`${origin}/cp/api/v1${path}`, { headers: { "x-api-key": key } });
    await terminal.signal("SIGINT");
    const { screen } = await terminal.ended();
    const lines = screen.split("\n").filter((line) => line.includes(" ms "));
    expect(lines).toEqual(
      isLogged
        ? [
            expect.stringMatching(/^[\w ,:]+ {2}GET {4}200 +\d+ ms {2}\/payment\/methods$/),
            expect.stringMatching(
              /^[\w ,:]+ {2}GET {4}404 +\d+ ms {2}\/payment\/retrieve\/sk_sandbox_….{3,}$/,
            ),
          ]
        : [],
    );
    expect(lines.join()).not.toContain(key);
  }
});
