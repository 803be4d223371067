import { createHmac, randomBytes } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import { readMobile } from "../domain/mobile.ts";
import { asciiDigits } from "../domain/result.ts";
import { isFromOwnPage, isSameText, Rejection, readBytes, requireVisit } from "./checks.ts";
import { payPath } from "./endpoints.ts";
import {
  endedPage,
  formPage,
  type PayPageWords,
  pageHeaders,
  payPageWords,
  returnPage,
  stalePage,
  unknownPage,
} from "./pay-page-html.ts";
import type { FinalStatus, Store, Stored } from "./store.ts";

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
