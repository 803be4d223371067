import type { Paisa } from "../../domain/amount.ts";
import { formatPaisa } from "../../domain/money.ts";
import type { Booked } from "./book.ts";
import type { Expectation } from "./cases.ts";
import { type Came, isYes } from "./exchange.ts";

/** `undecided`: nothing that was seen proves it, and so it is no pass. */
type TrialVerdict = "passed" | "failed" | "undecided";

export interface Observed {
  answers: Came[];
  /** The answers to ordinary callbacks beside strange ones, and after them. */
  ordinary: Came[];
  /** How often the service was asked for one of the payments. */
  asked: number;
  /** Undefined where there is no book to look into. */
  booked: Booked | undefined;
  duePaisa: Paisa;
  /** Whether the handler took the genuine callback: to refuse everything is no virtue. */
  tookGenuine: boolean;
  /** Whether it was seen to ask the service for the genuine one: else not to have asked shows nothing. */
  askedForGenuine: boolean;
}

export interface Judgement {
  verdict: TrialVerdict;
  because: string;
}

/** What came of a case. Where there is a book, it alone says what was believed. */
export function judge(expects: Expectation, observed: Observed): Judgement {
  if (expects === "served") return judgeServed(observed);
  if (expects === "refused") return judgeRefused(observed);
  const fall = fallOf(expects, observed);
  if (fall) return fall;
  if (expects !== "taken" && !observed.tookGenuine)
    return undecided("It does not take the genuine one either, so that this shows nothing.");
  return expects === "taken" || expects === "once"
    ? judgeTruth(expects, observed)
    : judgeLie(observed);
}

/** What proves that it fell for something, whatever else it does. */
function fallOf(expects: Expectation, observed: Observed): Judgement | undefined {
  const { answers, asked, booked, duePaisa, askedForGenuine } = observed;
  const broken = expects === "ignored" ? answers.find(isBroken) : undefined;
  if (broken) return failed(`A word that it does not know broke it: ${said(broken)}.`);
  if (booked?.is === "known" && booked.paisa > duePaisa)
    return failed(`It booked ${formatPaisa(booked.paisa)}, and ${formatPaisa(duePaisa)} was paid.`);
  const isBelieving = !booked && askedForGenuine && asked === 0 && answers.some(isYes);
  return isBelieving && expects === "not booked"
    ? failed("It said yes, and never asked the service: that is believing the sender.")
    : undefined;
}

function judgeTruth(
  expects: Expectation,
  { answers, asked, booked, duePaisa }: Observed,
): Judgement {
  if (answers.some(isElsewhere))
    return failed("It answered with a redirect, which nobody follows: name the final address.");
  if (!answers.some(isYes))
    return failed("It did not take a true callback; whoever sent it would send it again.");
  if (booked?.is === "unclear") return undecided(booked.because);
  if (booked && booked.paisa < duePaisa) {
    const [is, due] = [formatPaisa(booked.paisa), formatPaisa(duePaisa)];
    return failed(`When the time of --settle was over it had booked ${is}, and ${due} was paid.`);
  }
  if (booked) return passed(`It booked ${formatPaisa(booked.paisa)}.`);
  if (expects === "once") return undecided(unseen);
  return asked > 0
    ? passed("It asked the service, and took it.")
    : undecided(
        "It took it, and asked this sandbox nothing meanwhile: is that the service it uses? A longer --settle, or --orders, shows more.",
      );
}

function judgeLie({ answers, booked }: Observed): Judgement {
  if (booked?.is === "unclear") return undecided(booked.because);
  if (booked) return passed(`It booked ${formatPaisa(booked.paisa)}.`);
  return answers.every(isNo) ? passed("It refused.") : undecided(unseen);
}

function judgeServed({ ordinary }: Observed): Judgement {
  const broken = ordinary.find(isBroken);
  return broken
    ? failed(`An ordinary callback got ${said(broken)}.`)
    : passed("It went on answering.");
}

function judgeRefused(observed: Observed): Judgement {
  const taken = observed.answers.find((huge) => !huge.isCut && !isNo(huge));
  return taken ? failed(`It got ${said(taken)}.`) : judgeServed(observed);
}

const unseen = "What it booked is seen with --orders alone.";

function said({ fault, status }: Came): string {
  return fault ?? `the status ${status}`;
}

function isNo({ status }: Came): boolean {
  return status !== null && status >= 400 && status < 500;
}

function isElsewhere({ status }: Came): boolean {
  return status !== null && status >= 300 && status < 400;
}

function isBroken({ status }: Came): boolean {
  return status === null || status >= 500;
}

function passed(because: string): Judgement {
  return { verdict: "passed", because };
}

function failed(because: string): Judgement {
  return { verdict: "failed", because };
}

function undecided(because: string): Judgement {
  return { verdict: "undecided", because };
}
