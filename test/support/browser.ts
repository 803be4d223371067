import { existsSync } from "node:fs";
import axe from "axe-core";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";

const executablePath = "/usr/bin/chromium";

/** A test that needs a browser, and is skipped without one. */
export const browserTest = test.skipIf(!existsSync(executablePath));

/** A window without scripts, in a browser of the test. */
export async function openWindow(options: BrowserContextOptions = {}): Promise<Page> {
  const browser = await chromium.launch({ executablePath, args });
  onTestFinished(() => browser.close());
  return browser.newPage({ javaScriptEnabled: false, ...options });
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
