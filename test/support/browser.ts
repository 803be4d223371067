import { existsSync } from "node:fs";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, expect, onTestFinished, test } from "vitest";

const executablePath = "/usr/bin/chromium";

/** A test that needs a browser, and is skipped without one. */
export const browserTest = test.skipIf(!existsSync(executablePath));

let running: Promise<Browser> | undefined;
afterAll(async () => (await running)?.close());

/** A new window without scripts. */
export async function openWindow(options: BrowserContextOptions = {}): Promise<Page> {
  running ??= chromium.launch({ executablePath, args });
  const context = await (await running).newContext({ javaScriptEnabled: false, ...options });
  onTestFinished(() => context.close());
  return context.newPage();
}

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Nothing scrolls sideways on a phone, and axe finds no problem. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  await page.evaluate(axe.source);
  expect(
    await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
    ),
  ).toEqual([]);
}
