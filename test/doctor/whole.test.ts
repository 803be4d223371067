import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { testAccount } from "../commands/account.ts";
import { listen } from "../http/misbehaving.ts";
import { hasTerminal, onTerminal } from "../pseudo-terminal.ts";
import { built, startBuilt } from "../run.ts";
import { columnsOf } from "../ui/columns.ts";
import { apiKey, envOf } from "./running.ts";

const account = testAccount();
const checks = [
  ...["lenden", "node", "config", "data", "ledger", "profile", "base-url", "key", "payout-secret"],
  ...[
    "authorities",
    "verification",
    "proxy",
    "name",
    "connection",
    "certificate",
    "access",
    "clock",
    "whitelist",
  ],
];

test("where all is well it ends with 0, and changes nothing at the service", async () => {
  const { code, stdout, stderr } = await built(["doctor", "--json"], { env: account.env() });
  const findings: { check: string; state: string }[] = JSON.parse(stdout);
  expect(findings.map(({ check }) => check)).toEqual(checks);
  for (const one of findings) {
    expect(Object.keys(one)).toEqual(["check", "state", "says", "todo"]);
    expect(["passed", "skipped"]).toContain(one.state);
  }
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(await account.asked()).toContain("GET /payment/methods");
});

test("csv has a line a check, --quiet their names", async () => {
  const csv = await account.run(["doctor", "-o", "csv"]);
  expect(csv.stdout.split("\r\n")[0]).toBe("check,state,says,todo");
  expect(csv.stdout.split("\r\n")).toHaveLength(checks.length + 2);
  const quiet = await account.run(["doctor", "-q"]);
  expect(quiet.stdout).toBe(`${checks.join("\n")}\n`);
});

test("a finding is shown as soon as it is there", async () => {
  let answer = (): void => {};
  const server = createServer((_, response) => {
    answer = () => response.end('{"success":true,"data":[]}');
    if (seen.includes("certificate")) answer();
  });
  let seen = "";
  const port = await listen(server);
  const child = startBuilt(["doctor"], envOf(`http://127.0.0.1:${port}`));
  child.stdout.on("data", (chunk) => {
    seen += String(chunk);
    if (seen.includes("certificate")) answer();
  });
  // The service answers only once what comes before its answer is on the screen.
  const code = await new Promise((resolve) => child.on("close", resolve));
  server.close();
  expect(code).toBe(0);
  expect(seen).toMatch(/^passed {4}clock/m);
});

describe.skipIf(!hasTerminal)("on a terminal", () => {
  test.each([40, 80, 120])("of %d columns every line fits", async (columns) => {
    const env = { ...envOf("http://127.0.0.1:1/cp/api/v1"), LENDEN_PAYOUT_SECRET: "" };
    const { code, shown } = await onTerminal(["doctor", "--color", "never"], { env, columns });
    expect(code).toBe(1);
    expect(shown).toContain("→ ");
    for (const line of shown.split("\r\n")) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
  });

  test("its states have their colours", async () => {
    const { shown } = await onTerminal(["doctor"], { env: envOf("http://127.0.0.1:1") });
    expect(shown).toMatch(/\p{Cc}\[32mpassed\p{Cc}\[39m/u);
    expect(shown).toMatch(/\p{Cc}\[31mfailed\p{Cc}\[39m/u);
  });
});

test("key, secret and passwords are shown by no check, however much goes wrong", async () => {
  const secret = "canary-of-the-secret";
  const env = {
    LENDEN_API_KEY: apiKey,
    LENDEN_PAYOUT_SECRET: secret,
    HTTPS_PROXY: "http://me:canary-of-proxy@127.0.0.1:1",
  };
  const addresses = [
    account.sandbox().baseUrl,
    "http://127.0.0.1:1",
    "https://service.test",
    "https://me:canary-of-url@shop.example/?key=canary-of-query",
  ];
  for (const LENDEN_BASE_URL of addresses) {
    for (const format of ["table", "json", "csv"]) {
      const line = ["doctor", "-v", "-o", format];
      const { stdout, stderr } = await account.run(line, { env: { ...env, LENDEN_BASE_URL } });
      expect(stdout + stderr).not.toMatch(/canary/);
      expect(stdout + stderr).not.toContain(apiKey);
    }
  }
});
