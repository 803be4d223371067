import { createHash, createHmac, randomBytes } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import { html, raw } from "hono/html";
import { readMobile } from "../domain/mobile.ts";
import { asciiDigits } from "../domain/result.ts";
import { unsafeCharacters } from "../domain/text.ts";
import { isFromOwnPage, isSameText, Rejection, readBytes, requireVisit } from "./checks.ts";
import { payPath } from "./endpoints.ts";
import { type FinalStatus, providerName, type Store, type Stored } from "./store.ts";

type Env = { Bindings: HttpBindings };
type Visit = Context<Env>;

const choices = new Map<string, FinalStatus>([
  ["pay", "Completed"],
  ["decline", "Cancelled"],
]);

/**
 * The page of `payment_url`: the customer pays or declines, and returns to the merchant's `redirect_url`
 * (docs/api.md §4). It needs no key: everyone who has the URL may pay.
 */
export function mountPayPage(app: Hono<Env>, store: Store): void {
  // Another site may post a form, but it cannot read the token in ours. After a restart, a page has
  // to be opened again.
  const key = randomBytes(32);
  const tokenOf = (id: string): string => createHmac("sha256", key).update(id).digest("base64url");
  const path = payPath(":transactionId");
  const paymentOf = (c: Visit) => store.find("payment", c.req.param("transactionId") ?? "");

  app.get(path, (c) => {
    requireVisit((name) => c.req.header(name));
    const payment = paymentOf(c);
    const words = wordsOf(c);
    if (!payment) return c.html(unknownPage(words), 404, pageHeaders);
    return payment.status === "Processing"
      ? c.html(formPage(payment, { token: tokenOf(payment.id) }, words), 200, pageHeaders)
      : c.html(endedPage(payment, returnUrl(payment), words), 200, pageHeaders);
  });

  app.post(path, async (c) => {
    const payment = paymentOf(c);
    const words = wordsOf(c);
    if (!payment) return c.html(unknownPage(words), 404, pageHeaders);
    const form = new URLSearchParams((await readBytes(c.env.incoming))?.toString() ?? "");
    const choice = choices.get(form.get("choice") ?? "");
    const token = tokenOf(payment.id);
    const isOurs =
      isFromOwnPage((name) => c.req.header(name)) && isSameText(token, form.get("token") ?? "");
    if (!isOurs || !choice) return c.html(stalePage(words), 403, pageHeaders);
    const payer = form.get("payer") ?? "";
    // A Bangla keyboard types Bengali digits.
    const isPayer = choice === "Cancelled" || readMobile(asciiDigits(payer)).ok;
    if (payment.status === "Processing" && !isPayer)
      return c.html(formPage(payment, { token, wrongPayer: payer }, words), 422, pageHeaders);
    store.move("payment", payment.id, choice);
    // If another tab was faster, its choice is shown.
    const now = store.find("payment", payment.id) ?? payment;
    const ownPage = `${payPath(now.id)}?lang=${words.language}`;
    const location = now.status === choice ? returnUrl(now) : ownPage;
    return c.body(null, 303, { ...pageHeaders, location });
  });

  app.all(path, () => {
    throw new Rejection(405, "METHOD_NOT_ALLOWED", "The page of a payment accepts GET and POST.");
  });
  // The redirect URL of merchants that have no web site yet.
  app.get("/return", (c) => c.html(returnPage(wordsOf(c)), 200, pageHeaders));
}

/** The merchant's URL with ID and status after its own query: a choice of the sandbox. */
function returnUrl({ id, status, body }: Stored<"payment">): string {
  const url = new URL(body.redirect_url);
  const added = new URLSearchParams({ transactionId: id, status });
  url.search = url.search === "" ? String(added) : `${url.search}&${added}`;
  return url.href;
}

/** In the language that was chosen on the page, or that the browser names first. */
function wordsOf(c: Visit): PayPageWords {
  const wanted = c.req.query("lang") ?? c.req.header("accept-language") ?? "";
  return payPageWords[/^\s*bn\b/i.test(wanted) ? "bn" : "en"];
}

type Payment = Stored<"payment">;

/** `html` escapes every value. */
type Markup = ReturnType<typeof html>;

/** Fits a phone of 320 pixels, and follows the light or dark mode of the browser. */
const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #515c6b; --paper: #fff; --ground: #eef1f5;
  --line: #7d8896; --act: #0b6b4f; --on-act: #fff; --bad: #a4161a; --note: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceff4; --soft: #b4bdca; --paper: #1d242e;
  --ground: #12171e; --line: #8591a1; --act: #5fd3ac; --on-act: #0b1f18; --bad: #ff9b9b; --note: #40351a; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, "Noto Sans Bengali", sans-serif; overflow-wrap: anywhere; }
nav, main { max-width: 26rem; margin: 0 auto; }
nav { text-align: end; }
nav a { display: inline-block; padding: .6rem .2rem; }
main { padding: 1rem; background: var(--paper); border-radius: .75rem; }
a { color: var(--act); }
h1 { margin: .75rem 0; font-size: 1.5rem; line-height: 1.3; }
.notice { margin: 0; padding: .5rem .75rem; background: var(--note); border-radius: .5rem; }
dl { margin: 1rem 0; }
dl div { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .4rem 0; border-bottom: 1px solid var(--ground); }
dt { flex: 0 0 8rem; color: var(--soft); }
dd { flex: 1 1 9rem; min-width: 0; margin: 0; white-space: pre-wrap; }
label { display: block; font-weight: 600; }
input, button { width: 100%; min-height: 3rem; padding: .5rem .75rem; border-radius: .5rem; font: inherit; }
input { border: 1px solid var(--line); background: var(--paper); color: var(--ink); }
.hint { margin: .25rem 0 1rem; color: var(--soft); }
.problem { margin: .25rem 0; color: var(--bad); font-weight: 600; }
button { margin-top: .5rem; border: 1px solid var(--act); background: var(--act); color: var(--on-act);
  font-weight: 600; cursor: pointer; }
button.quiet { background: transparent; color: var(--act); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;

/**
 * The page loads and runs nothing but its style, and other sites cannot frame it. Forms may lead anywhere:
 * browsers check the redirect to the merchant, and where that leads, against `form-action`.
 */
const pageHeaders = {
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "form-action 'self' https: http:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  // With no-referrer a browser would send `Origin: null` with the page's own form.
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

/** The form, again if its number was wrong. */
function formPage(
  payment: Payment,
  { token, wrongPayer }: { token: string; wrongPayer?: string },
  words: PayPageWords,
): Markup {
  const isWrong = wrongPayer !== undefined;
  const payer = wrongPayer ?? payment.body.suggestedPayerNumber ?? "";
  const about = isWrong ? "payer-problem payer-hint" : "payer-hint";
  const body = html`
    <h1>${words.payHeading(amountText(payment, words))}</h1>
    ${details(payment, words)}
    <form method="post" action="?lang=${words.language}">
      <input type="hidden" name="token" value="${token}">
      <label for="payer">${words.payer}</label>
      ${isWrong ? html`<p id="payer-problem" class="problem" role="alert">${words.payerProblem}</p>` : ""}
      <input id="payer" name="payer" type="tel" autocomplete="tel" maxlength="40" required
        value="${safe(payer)}" aria-describedby="${about}" ${isWrong ? raw('aria-invalid="true" autofocus') : ""}>
      <p id="payer-hint" class="hint">${words.payerHint}</p>
      <button name="choice" value="pay">${words.pay}</button>
      <button name="choice" value="decline" class="quiet" formnovalidate>${words.decline}</button>
    </form>`;
  return page({ title: words.payHeading(amountText(payment, words)), body }, words);
}

/** For customers who return, or whose other tab was faster. */
function endedPage(payment: Payment, backTo: string, words: PayPageWords): Markup {
  const title = payment.status === "Completed" ? words.completed : words.cancelled;
  const body = html`
    <h1>${title}</h1>
    <p>${words.nothingToDo}</p>
    ${details(payment, words)}
    <p><a href="${backTo}">${words.backTo(safe(merchantOf(payment)))}</a></p>`;
  return page({ title, body }, words);
}

function unknownPage(words: PayPageWords): Markup {
  const body = html`<h1>${words.unknown}</h1><p>${words.unknownHint}</p>`;
  return page({ title: words.unknown, body }, words);
}

/** For a form of another site, or from before a restart. */
function stalePage(words: PayPageWords): Markup {
  const body = html`
    <h1>${words.stale}</h1>
    <p>${words.nothingChanged} <a href="?lang=${words.language}">${words.openAgain}</a></p>`;
  return page({ title: words.stale, body }, words);
}

/** In place of a merchant's own page. */
function returnPage(words: PayPageWords): Markup {
  const body = html`<h1>${words.back}</h1><p>${words.backHint}</p>`;
  return page({ title: words.back, body }, words);
}

function page({ title, body }: { title: string; body: Markup }, words: PayPageWords): Markup {
  const { language, code } = words.other;
  return html`<!doctype html>
<html lang="${words.language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    ${raw(`<style>${style}</style>`)}
  </head>
  <body>
    <nav><a href="?lang=${code}" lang="${code}" hreflang="${code}">${language}</a></nav>
    <main>
      <p class="notice">${words.noRealMoney}</p>
      ${body}
    </main>
  </body>
</html>
`;
}

function details(payment: Payment, words: PayPageWords): Markup {
  const { description, paymentMethodId } = payment.body;
  const rows: [string, string][] = [
    [words.merchant, merchantOf(payment)],
    [words.amount, amountText(payment, words)],
    [words.description, description],
    [words.method, providerName(paymentMethodId) ?? paymentMethodId],
  ];
  return html`<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${safe(value)}</dd></div>`)}</dl>`;
}

/** Removes characters that could change the order in which the page is read. */
function safe(text: string): string {
  return text.replace(unsafeCharacters, (character) => (character === "\n" ? "\n" : ""));
}

/** The API has no name of the merchant; the redirect URL shows who it is. */
function merchantOf({ body }: Payment): string {
  return new URL(body.redirect_url).host;
}

function amountText({ body }: Payment, words: PayPageWords): string {
  const grouped = new Intl.NumberFormat(words.numbers, { minimumFractionDigits: 2 });
  return words.taka(grouped.format(body.amount));
}

const english = {
  language: "en",
  /** The locale of amounts, in lakh and crore. */
  numbers: "en-IN",
  /** The other language, in that language. */
  other: { language: "বাংলা", code: "bn" },
  noRealMoney: "Local sandbox: no real money moves here.",
  taka: (amount: string) => `BDT ${amount}`,
  payHeading: (amount: string) => `Pay ${amount}`,
  merchant: "Merchant",
  amount: "Amount",
  description: "For",
  method: "Method",
  payer: "Your mobile number",
  payerHint: "11 digits, for example 01712345678",
  payerProblem: "Invalid mobile number. Example: 01712345678.",
  pay: "Pay",
  decline: "Decline",
  completed: "This payment is completed",
  cancelled: "This payment was cancelled",
  nothingToDo: "There is nothing more to do here.",
  backTo: (merchant: string) => `Back to ${merchant}`,
  unknown: "Payment not found",
  unknownHint: "Check the link, or ask the merchant for a new one.",
  stale: "This page is out of date",
  nothingChanged: "Nothing was changed.",
  openAgain: "Open the payment again",
  back: "You are back at the merchant",
  backHint: "The merchant's own page would open here. This payment was created without one.",
};

/** The texts of the payment page in one language. */
type PayPageWords = typeof english;

const payPageWords: Record<"en" | "bn", PayPageWords> = {
  en: english,
  bn: {
    language: "bn",
    numbers: "bn-BD",
    other: { language: "English", code: "en" },
    noRealMoney: "লোকাল স্যান্ডবক্স: এখানে আসল টাকার লেনদেন হয় না।",
    taka: (amount) => `${amount} টাকা`,
    payHeading: (amount) => `${amount} পরিশোধ করুন`,
    merchant: "মার্চেন্ট",
    amount: "টাকার পরিমাণ",
    description: "বিবরণ",
    method: "পেমেন্টের মাধ্যম",
    payer: "আপনার মোবাইল নম্বর",
    payerHint: "১১ ডিজিট, যেমন ০১৭১২৩৪৫৬৭৮",
    payerProblem: "সঠিক বাংলাদেশি মোবাইল নম্বর দিন।",
    pay: "পরিশোধ করুন",
    decline: "বাতিল করুন",
    completed: "পেমেন্টটি সম্পন্ন হয়েছে",
    cancelled: "পেমেন্টটি বাতিল হয়েছে",
    nothingToDo: "এখানে আর কিছু করার নেই।",
    backTo: (merchant) => `${merchant}-এ ফিরে যান`,
    unknown: "পেমেন্টটি পাওয়া যায়নি",
    unknownHint: "লিংকটি মিলিয়ে দেখুন, অথবা মার্চেন্টের কাছে নতুন লিংক চান।",
    stale: "পেজটি পুরোনো হয়ে গেছে",
    nothingChanged: "কিছুই বদলানো হয়নি।",
    openAgain: "পেমেন্টটি আবার খুলুন",
    back: "আপনি মার্চেন্টের কাছে ফিরে এসেছেন",
    backHint: "এখানে মার্চেন্টের নিজের পেজ খোলার কথা। এই পেমেন্টে সেটি দেওয়া হয়নি।",
  },
};
