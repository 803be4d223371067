import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import jsQR from "jsqr";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { answering } from "../support/server.ts";
import { openPrompts, openTerminal, terminalTest } from "../terminal/terminal.ts";
import { photographed } from "../ui/screen.ts";

const account = testAccount();
const create = [
  ...["pay", "create", "--amount", "5", "--description", "x", "--again"],
  ...["--method-id", "665f1c2ab8e4"],
];
const createJson = [...create, "--json"];

/** A directory whose `xdg-open` writes its arguments to a file. */
function browser(): { path: string; given: string } {
  const folder = scratchFolder();
  const given = join(folder, "given");
  writeFileSync(
    join(folder, "xdg-open"),
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${given}.new\nmv ${given}.new ${given}\n`,
  );
  chmodSync(join(folder, "xdg-open"), 0o755);
  return { path: `${folder}:${process.env.PATH}`, given };
}

/** The content of the file, once it exists: lenden does not wait for the browser. */
async function written(file: string): Promise<string> {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
  return readFileSync(file, "utf8");
}

function urlIn(shown: string): string {
  return /"payment_url": "([^"]+)"/.exec(shown)?.[1] ?? "";
}

/** An API whose payments have this payment URL. */
async function servicePaying(payment_url: string) {
  const payment = { transactionId: "TX1", payment_url, amount: 5, status: "Processing" };
  const { env } = await answering(() => payment);
  return { ...env, DISPLAY: ":0" };
}

describe("pay create --qr in a terminal", () => {
  test("draws the payment URL so that a phone reads it", async () => {
    const terminal = openPrompts([...createJson, "--qr"], { env: account.env() });
    expect((await terminal.ended()).code).toBe(0);
    const drawn = terminal
      .printed()
      .split("\n")
      .filter((line) => line.includes("48;5;231"));
    const { pixels, width, height } = photographed(drawn.join("\n").replaceAll("\r", ""), "dark");
    const read = jsQR.default(pixels, width, height, { inversionAttempts: "dontInvert" })?.data;
    expect(read).toBe(urlIn(terminal.stdout()));
    expect(read).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
  });
});

test("pay create --qr draws on stderr, but with JSON output only in a terminal", async () => {
  const { stdout, stderr } = await account.run([...create, "--qr"]);
  expect(stdout).not.toMatch(/[█▀▄]{5}/);
  expect(stderr).toMatch(/[█▀▄]{5}/);
  const json = await account.run([...createJson, "--qr"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: "Processing" });
  expect(json.stderr).toBe("");
});

describe("pay create --open in a terminal", () => {
  terminalTest("gives the payment URL to the browser as one argument", async () => {
    const { path, given } = browser();
    const url = "https://pay.example/TX1?a=1&b=$(touch%20x);'c'";
    const env = { ...(await servicePaying(url)), PATH: path };
    const terminal = await openTerminal([...create, "--open"], { env });
    expect((await terminal.ended()).code).toBe(0);
    expect(await written(given)).toBe(`${url}\n`);
  });

  test.each([
    "javascript:alert(1)",
    "http://pay.example/TX1",
    "--version",
    "https://a.b/\u001b[2J",
  ])("neither opens nor draws %j", async (url) => {
    const { path, given } = browser();
    const env = { ...(await servicePaying(url)), PATH: path };
    const { code, screen } = await openPrompts([...create, "--open", "--qr"], { env }).ended();
    expect(code).toBe(0);
    expect(screen.replace(/\s+/g, " ")).toContain(
      "is not an https: URL, so lenden does not open or draw it",
    );
    expect(existsSync(given)).toBe(false);
  });

  test("reports a missing display", async () => {
    const { DISPLAY: _, ...env } = await servicePaying("https://pay.example/TX1");
    const { code, screen } = await openPrompts([...create, "--open"], { env }).ended();
    expect({ code, screen }).toMatchObject({
      code: 0,
      screen: expect.stringContaining("there is no display"),
    });
  });

  terminalTest("reports a missing browser", async () => {
    const env = { ...(await servicePaying("https://pay.example/TX1")), PATH: scratchFolder() };
    const { code, screen } = await (await openTerminal([...create, "--open"], { env })).ended();
    expect({ code, screen }).toMatchObject({
      code: 0,
      screen: expect.stringContaining("no browser"),
    });
  });
});

test("pay create --open opens nothing non-interactively", async () => {
  const { path, given } = browser();
  const env = { ...(await servicePaying("https://pay.example/TX1")), PATH: path };
  const { code, stdout, stderr } = await lenden([...create, "--open"], { env });
  expect([code, stdout]).toEqual([0, expect.stringContaining("TX1")]);
  expect(stderr).toContain("Cannot open the payment URL: stderr is not a terminal.");
  expect(existsSync(given)).toBe(false);
});
