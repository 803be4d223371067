import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { browserTest, expectAccessible, openWindow } from "../support/browser.ts";
import { listen } from "../support/server.ts";
import { paymentBody, type Sandbox, start } from "./running.ts";

/** A merchant's shop, and the URLs that its customers returned to. */
interface Shop {
  url: string;
  visits: string[];
}

async function openShop(): Promise<Shop> {
  const visits: string[] = [];
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith("/thanks")) visits.push(incoming.url);
    outgoing.writeHead(200, { "content-type": "text/html" }).end("<title>Shop</title>Thank you");
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, visits };
}

/** A sandbox, a shop, and a payment that a customer is about to make. */
interface Checkout {
  sandbox: Sandbox;
  shop: Shop;
  id: string;
  payUrl: string;
  status(): Promise<unknown>;
}

async function checkout(fields: object = {}): Promise<Checkout> {
  const [sandbox, shop] = [await start(), await openShop()];
  const { body } = await sandbox.post("/payment/create", {
    ...paymentBody,
    redirect_url: `${shop.url}/thanks?order=42`,
    callback_url: `${shop.url}/callback`,
    suggestedPayerNumber: "01712345678",
    ...fields,
  });
  const id = String(body.data.transactionId);
  const payUrl = String(body.data.payment_url);
  const status = async () => (await sandbox.get(`/payment/retrieve/${id}`)).body.data.status;
  return { sandbox, shop, id, payUrl, status };
}

const phone = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };

browserTest.for([
  ["Pay", "Completed"],
  ["Decline", "Cancelled"],
])("%s, without JavaScript, leads back to the shop with the id and %s", async ([button, ends]) => {
  const { shop, id, payUrl, status } = await checkout({ amount: 125000.5 });
  const page = await openWindow(phone);
  await page.goto(payUrl);
  expect(await page.title()).toBe("Pay BDT 1,25,000.50");
  const shown = await page.textContent("dl");
  for (const text of [new URL(shop.url).host, "BDT 1,25,000.50", "Order 42", "bKash"]) {
    expect(shown).toContain(text);
  }
  expect(await page.inputValue("#payer")).toBe("01712345678");
  expect(await status()).toBe("Processing");
  await press(page, button ?? "");
  expect(await page.title()).toBe("Shop");
  expect(shop.visits).toEqual([`/thanks?order=42&transactionId=${id}&status=${ends}`]);
  expect(await status()).toBe(ends);
});

browserTest.for([["en"], ["bn"]])(
  "in %s nothing scrolls sideways on a phone, and axe finds no problem",
  async ([language]) => {
    const description = `Order ${"4".repeat(200)} with a very long name`;
    const open = await checkout({ description, suggestedPayerNumber: "12345" });
    const page = await openWindow({ ...phone, javaScriptEnabled: true, bypassCSP: true });
    await page.goto(`${open.payUrl}?lang=${language}`);
    await expectAccessible(page);
    await follow(page, () => page.click("button[value=pay]"));
    expect(await page.locator("[role=alert]").count()).toBe(1);
    await expectAccessible(page);
    await page.goto(`${open.payUrl}X?lang=${language}`);
    await expectAccessible(page);
    await end(open);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(`${open.payUrl}?lang=${language}`);
    await expectAccessible(page);
  },
);

browserTest("another site can neither frame the page nor post its form", async () => {
  const { payUrl, shop, status } = await checkout();
  const page = await openWindow({ javaScriptEnabled: true });
  const shopElsewhere = shop.url.replace("127.0.0.1", "localhost");
  await page.goto(shopElsewhere);
  await page.setContent(`
    <iframe src="${payUrl}"></iframe>
    <form method="post" action="${payUrl}"><input name="payer" value="01712345678">
      <button name="choice" value="pay">Win a prize</button></form>`);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  expect(await frame?.locator("button").count()).toBe(0);
  await follow(page, () => page.click("text=Win a prize"));
  expect(await page.title()).toBe("This page is out of date");
  expect(await status()).toBe("Processing");
});

async function press(page: Page, button: string): Promise<void> {
  await follow(page, () => page.getByRole("button", { name: button, exact: true }).click());
}

/** Clicks on what leads to another page, and waits for that one. */
async function follow(page: Page, click: () => Promise<void>): Promise<void> {
  const loaded = page.waitForEvent("load");
  await click();
  await loaded;
}

async function end({ sandbox, id }: Checkout): Promise<void> {
  await sandbox.post("/sandbox/trigger-payment", { transactionId: id });
}
