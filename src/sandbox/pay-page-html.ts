import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import { amountNumber } from "../domain/amount.ts";
import { unsafeCharacters } from "../domain/unsafe-characters.ts";
import { providerName } from "./methods.ts";
import { payPageStyle } from "./pay-page-style.ts";
import type { PayPageWords } from "./pay-page-words.ts";
import type { Payment } from "./records.ts";

/** HTML in which every value was escaped: `html` does it, whatever a description says. */
type Markup = ReturnType<typeof html>;

/**
 * Nothing but the one style is loaded or run, and nobody may frame, keep or sniff the page. A form
 * may lead anywhere on the web: browsers hold the redirect to the merchant's own address, and
 * wherever that leads on to, against `form-action`.
 */
export const pageHeaders = {
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(payPageStyle).digest("base64")}'`,
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

/** The form, with what was wrong about it when it comes back. */
export function formPage(
  payment: Payment,
  { token, wrongPayer }: { token: string; wrongPayer?: string },
  words: PayPageWords,
): Markup {
  const isWrong = wrongPayer !== undefined;
  const payer = wrongPayer ?? payment.suggestedPayerNumber ?? "";
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

/** What somebody sees who comes back, or whose other tab was faster. */
export function endedPage(payment: Payment, backTo: string, words: PayPageWords): Markup {
  const title = payment.status === "Completed" ? words.completed : words.cancelled;
  const body = html`
    <h1>${title}</h1>
    <p>${words.nothingToDo}</p>
    ${details(payment, words)}
    <p><a href="${backTo}">${words.backTo(safe(merchantOf(payment)))}</a></p>`;
  return page({ title, body }, words);
}

/** An id that no payment has. */
export function unknownPage(words: PayPageWords): Markup {
  const body = html`<h1>${words.unknown}</h1><p>${words.unknownHint}</p>`;
  return page({ title: words.unknown, body }, words);
}

/** A form that this sandbox did not make, or that is older than the sandbox itself. */
export function stalePage(words: PayPageWords): Markup {
  const body = html`
    <h1>${words.stale}</h1>
    <p>${words.nothingChanged} <a href="?lang=${words.language}">${words.openAgain}</a></p>`;
  return page({ title: words.stale, body }, words);
}

/** The sandbox in place of a merchant's own page. */
export function returnPage(words: PayPageWords): Markup {
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
    ${raw(`<style>${payPageStyle}</style>`)}
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
  const rows: [string, string][] = [
    [words.merchant, merchantOf(payment)],
    [words.amount, amountText(payment, words)],
    [words.description, payment.description],
    [words.method, providerName(payment.paymentMethodId) ?? payment.paymentMethodId],
  ];
  return html`<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${safe(value)}</dd></div>`)}</dl>`;
}

/** A text from a request, without what could change the order in which the page is read. */
function safe(text: string): string {
  return text.replace(unsafeCharacters, (character) => (character === "\n" ? "\n" : ""));
}

/** The service tells no name of the merchant; where the customer goes back to says who it is. */
function merchantOf({ redirectUrl }: Payment): string {
  return new URL(redirectUrl).host;
}

function amountText({ amountPaisa }: Payment, words: PayPageWords): string {
  const grouped = new Intl.NumberFormat(words.numbers, { minimumFractionDigits: 2 });
  return words.taka(grouped.format(amountNumber(amountPaisa)));
}
