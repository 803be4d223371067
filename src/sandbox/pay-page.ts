import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import { readMobile } from "../domain/mobile.ts";
import { asciiDigits } from "../domain/reading.ts";
import type { Status } from "../domain/statuses.ts";
import { readBytes } from "./body.ts";
import { createFormToken, type FormToken } from "./form-token.ts";
import {
  endedPage,
  formPage,
  pageHeaders,
  returnPage,
  stalePage,
  unknownPage,
} from "./pay-page-html.ts";
import { type Language, payPageWords } from "./pay-page-words.ts";
import type { Payment } from "./records.ts";
import { Refusal } from "./refusal.ts";
import { cameFromOwnForm, requireVisit } from "./safety.ts";
import type { Store } from "./store.ts";

type Env = { Bindings: HttpBindings };
type Visit = Context<Env>;

/** Where a payment's page is, after the sandbox's origin. */
export function payPath(transactionId: string): string {
  return `/p/${transactionId}`;
}

/** What answering needs: the payments, and the word that a form must know. */
interface Desk {
  store: Store;
  token: FormToken;
}

/**
 * The page that `payment_url` opens: the customer pays or declines, and goes back to the merchant's
 * `redirect_url` (service.md §4). It takes no key: whoever has the address may pay.
 */
export function mountPayPage(app: Hono<Env>, { store }: { store: Store }): void {
  const path = payPath(":transactionId");
  const desk = { store, token: createFormToken() };
  app.get(path, (c) => show(desk, c));
  app.post(path, (c) => take(desk, c));
  app.all(path, () => {
    throw new Refusal(405, "METHOD_NOT_ALLOWED", "The page of a payment takes GET and POST.");
  });
  // Where lenden sends customers of merchants that have no web site yet.
  app.get("/return", (c) => c.html(returnPage(wordsOf(c)), 200, pageHeaders));
}

function show({ store, token }: Desk, c: Visit): Response | Promise<Response> {
  requireVisit((name) => c.req.header(name));
  const payment = store.payments.find(idOf(c));
  const words = wordsOf(c);
  if (!payment) return c.html(unknownPage(words), 404, pageHeaders);
  if (payment.status !== "Processing") {
    return c.html(endedPage(payment, returnAddress(payment), words), 200, pageHeaders);
  }
  return c.html(formPage(payment, { token: token.of(payment.id) }, words), 200, pageHeaders);
}

/** Takes the form, if it is one that this page made for this payment. */
async function take(desk: Desk, c: Visit): Promise<Response> {
  const payment = desk.store.payments.find(idOf(c));
  if (!payment) return c.html(unknownPage(wordsOf(c)), 404, pageHeaders);
  const form = new URLSearchParams((await readBytes(c.env.incoming))?.toString() ?? "");
  const choice = choices.get(form.get("choice") ?? "");
  const isOurs =
    cameFromOwnForm((name) => c.req.header(name)) &&
    desk.token.fits(payment.id, form.get("token") ?? "");
  if (!isOurs || !choice) return c.html(stalePage(wordsOf(c)), 403, pageHeaders);
  const payer = form.get("payer") ?? "";
  if (payment.status === "Processing" && choice === "Completed" && !isMobile(payer)) {
    const again = { token: desk.token.of(payment.id), wrongPayer: payer };
    return c.html(formPage(payment, again, wordsOf(c)), 422, pageHeaders);
  }
  return decide(desk, payment, choice, c);
}

/** Moves the payment, unless another tab was faster: then that one's choice is shown. */
function decide({ store }: Desk, payment: Payment, choice: Choice, c: Visit): Response {
  store.payments.move(payment.id, choice);
  const now = store.payments.find(payment.id) ?? payment;
  const ownPage = `${payPath(now.id)}?lang=${languageOf(c)}`;
  const location = now.status === choice ? returnAddress(now) : ownPage;
  return c.body(null, 303, { ...pageHeaders, location });
}

type Choice = Exclude<Status, "Processing">;

const choices = new Map<string, Choice>([
  ["pay", "Completed"],
  ["decline", "Cancelled"],
]);

/** The merchant's address with id and status behind its own query: the sandbox's own choice. */
function returnAddress({ id, status, redirectUrl }: Payment): string {
  const url = new URL(redirectUrl);
  const told = new URLSearchParams({ transactionId: id, status });
  url.search = url.search === "" ? String(told) : `${url.search}&${told}`;
  return url.href;
}

/** A Bangla keyboard types Bengali digits, and they are as good. */
function isMobile(typed: string): boolean {
  return readMobile(asciiDigits(typed)).ok;
}

function idOf(c: Visit): string {
  return c.req.param("transactionId") ?? "";
}

function wordsOf(c: Visit) {
  return payPageWords[languageOf(c)];
}

/** What was chosen on the page, else what the browser names first. */
function languageOf(c: Visit): Language {
  const wanted = c.req.query("lang") ?? c.req.header("accept-language") ?? "";
  return /^\s*bn\b/i.test(wanted) ? "bn" : "en";
}
