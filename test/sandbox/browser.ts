import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished, test } from "vitest";
import { paymentBody, type Sandbox, start } from "./running.ts";

const executablePath = "/usr/bin/chromium";

/** A test that needs a browser, and is skipped without one. */
export const browserTest = test.skipIf(!existsSync(executablePath));

let running: Promise<Browser> | undefined;
afterAll(async () => (await running)?.close());

/** A window of its own, in a browser that the tests of a file share. Scripts are off unless asked for. */
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

/** A merchant's shop: what its customers came back with. */
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, visits };
}

/** A sandbox, a shop, and a payment that a customer is about to make. */
export interface Checkout {
  sandbox: Sandbox;
  shop: Shop;
  id: string;
  payUrl: string;
  status(): Promise<unknown>;
}

export async function checkout(fields: object = {}): Promise<Checkout> {
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
