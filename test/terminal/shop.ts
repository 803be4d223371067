import { type Merchant, openMerchant, paymentOf } from "../merchant.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

/** The same ids and times in every run, and so long ago that no screen says how long. */
const openedMs = Date.parse("2024-11-20T04:30:00Z");

/** A merchant with paid orders, in whose terminal lenden runs. */
export interface Shop extends Merchant {
  /** The payment of the order, paid. */
  order42: string;
  order43: string;
  /** Starts lenden in a terminal. */
  open(args: string[], options?: ShopTerminal): Promise<Terminal>;
}

interface ShopTerminal {
  columns?: number;
  rows?: number;
  stdout?: string;
  env?: Record<string, string>;
  program?: string[];
}

export async function openShop(): Promise<Shop> {
  const now = () => openedMs;
  const merchant = await openMerchant({ seed: 7, now });
  const paid = async (description: string, amount: string): Promise<string> => {
    const line = [...paymentOf(description, "-q"), "--amount", amount];
    const { stdout } = await merchant.lenden(line.toSpliced(2, 2), { host: { now } });
    await merchant.set("payment", stdout.trim(), "Completed");
    return stdout.trim();
  };
  return {
    ...merchant,
    order42: await paid("Order 42, two shirts", "1250.50"),
    order43: await paid("Order 43, লাল জামা", "800"),
    open: (args, { env, ...options } = {}) =>
      openTerminal(args, {
        ...options,
        env: { ...merchant.env, TZ: "Asia/Dhaka", NO_COLOR: "1", ...env },
      }),
  };
}

/** The answers of a whole refund, each with its question. */
export const refundAnswers: [string, string][] = [
  ["Which payment?", "42,"], // with the comma: a random ID may contain "42"
  ["Amount to pay back", "250.25"],
  ["kind of account", ""],
  ["The account that receives it", "01812345678"],
  ["Note", "it's damaged"],
];

/** Gives answers one after the other. */
export async function answerAll(terminal: Terminal, answers: [string, string][]): Promise<void> {
  for (const [question, text] of answers) await terminal.answer(question, text);
}
