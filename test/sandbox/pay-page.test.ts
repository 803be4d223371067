import { expect, test } from "vitest";
import { paymentBody, type Sandbox, start } from "./running.ts";

test("the page loads and runs nothing, and cannot be framed, stored or sniffed", async () => {
  const { url } = await openPayment();
  const { status, headers } = await fetch(url);
  expect(status).toBe(200);
  expect(headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' https: http:; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(headers.get("content-type")).toBe("text/html; charset=UTF-8");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("same-origin");
  expect(headers.get("cache-control")).toBe("no-store");
});

test.each([
  ["no token", { token: "" }, {}],
  ["another payment's token", { token: "other" }, {}],
  ["the Origin of another site", {}, { origin: "https://evil.example" }],
  ["no Origin that can be named", {}, { origin: "null" }],
  ["another port of this machine", {}, { origin: "http://127.0.0.1:1" }],
  ["a browser that says cross-site", {}, { "sec-fetch-site": "cross-site" }],
  ["an unknown choice", { choice: "steal" }, {}],
])("a form with %s changes nothing", async (_, changed, headers) => {
  const { sandbox, url, id } = await openPayment();
  const form = { token: await tokenOf(url), choice: "pay", payer: "01712345678", ...changed };
  if (form.token === "other") form.token = await tokenOf((await openPayment(sandbox)).url);
  const answer = await post(url, form, headers);
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain("Nothing was changed.");
  expect((await sandbox.get(`/payment/retrieve/${id}`)).body.data.status).toBe("Processing");
});

test("Pay redirects to the merchant, after the query of its URL", async () => {
  const { url, id } = await openPayment(undefined, "https://shop.example/t?a=%20b&status=x#top");
  const answer = await post(url, {
    token: await tokenOf(url),
    choice: "pay",
    payer: "+880 1712-345678",
  });
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toBe(
    `https://shop.example/t?a=%20b&status=x&transactionId=${id}&status=Completed#top`,
  );
});

test("an invalid mobile number is asked for again, and Bengali digits are accepted", async () => {
  const { sandbox, url, id } = await openPayment();
  const form = { token: await tokenOf(url), choice: "pay" };
  const again = await post(url, { ...form, payer: "12345" });
  expect([again.status, await again.text()]).toEqual([
    422,
    expect.stringContaining("Invalid mobile number."),
  ]);
  expect((await sandbox.get(`/payment/retrieve/${id}`)).body.data.status).toBe("Processing");
  expect((await post(url, { ...form, payer: "০১৭১২৩৪৫৬৭৮" })).status).toBe(303);
});

test("the first choice decides, and the page shows it afterwards", async () => {
  const { sandbox, url, id } = await openPayment();
  const form = { token: await tokenOf(url), payer: "01712345678" };
  expect((await post(url, { ...form, choice: "decline" })).status).toBe(303);
  const second = await post(url, { ...form, choice: "pay" });
  expect(second.headers.get("location")).toBe(`/p/${id}?lang=en`);
  const page = await (await fetch(url)).text();
  expect(page).toContain("This payment was cancelled");
  expect(page).not.toContain("<button");
  expect((await sandbox.get(`/payment/retrieve/${id}`)).body.data.status).toBe("Cancelled");
});

test("an id that no payment has gets a page that says so, and other methods are rejected", async () => {
  const { url } = await openPayment();
  for (const answer of [await fetch(`${url}X`), await post(`${url}X`, {})]) {
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("Payment not found");
  }
  expect((await fetch(url, { method: "PUT" })).status).toBe(405);
});

test("only a visit may come from another site, not a fetch or a frame", async () => {
  const { url } = await openPayment();
  const visit = (dest: string) =>
    fetch(url, { headers: { "sec-fetch-site": "cross-site", "sec-fetch-dest": dest } });
  expect((await visit("document")).status).toBe(200);
  expect((await visit("iframe")).status).toBe(403);
  expect((await visit("empty")).status).toBe(403);
  expect((await fetch(url, { headers: { origin: "https://evil.example" } })).status).toBe(403);
});

interface Opened {
  sandbox: Sandbox;
  url: string;
  id: string;
}

async function openPayment(given?: Sandbox, redirectUrl?: string): Promise<Opened> {
  const sandbox = given ?? (await start());
  const redirect = redirectUrl ? { redirect_url: redirectUrl } : {};
  const { body } = await sandbox.post("/payment/create", { ...paymentBody, ...redirect });
  return { sandbox, url: String(body.data.payment_url), id: String(body.data.transactionId) };
}

async function tokenOf(url: string): Promise<string> {
  return /name="token" value="([^"]+)"/.exec(await (await fetch(url)).text())?.[1] ?? "";
}

function post(
  url: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(form);
  return fetch(url, { method: "POST", redirect: "manual", body, headers });
}

test("texts from a request are shown without control and bidirectional characters", async () => {
  const sandbox = await start();
  const hostile = "\u202eevil\u2066 \u001b[31m\u0007\u200f\u061c\u200bred\ufeff";
  const body = {
    ...paymentBody,
    description: `Order ${hostile}\nline 2 রহি\u200dমা<script>`,
    suggestedPayerNumber: `017${hostile}`,
  };
  const { body: made } = await sandbox.post("/payment/create", body);
  const url = String(made.data.payment_url);
  const form = { token: await tokenOf(url), choice: "pay", payer: `018${hostile}` };
  for (const answer of [await fetch(url), await post(url, form)]) {
    const text = await answer.text();
    expect(text).not.toMatch(/(?!\n)\p{Cc}|(?![\u200c\u200d])\p{Cf}|[\u2028\u2029]/u);
    expect(text).toContain("Order evil [31mred\nline 2 রহি\u200dমা&lt;script&gt;</dd>");
  }
});
