import { type Merchant, openMerchant, paymentOf } from "../support/merchant.ts";
import {
  openPrompts,
  openTerminal,
  type Prompts,
  type Terminal,
  type TerminalOptions,
} from "./terminal.ts";

/** The same IDs and times in every run, and so long ago that no screen shows how long. */
const openedMs = Date.parse("2024-11-20T04:30:00Z");

/** A merchant with two completed payments. */
export interface Shop extends Merchant {
  order42: string;
  order43: string;
  /** Starts the built tool in a terminal. */
  open(args: string[], options?: TerminalOptions): Promise<Terminal>;
  /** Runs lenden in this process with streams that look like a terminal. */
  prompt(args: string[], options?: { columns?: number }): ReturnType<typeof openPrompts>;
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
    prompt: (args, options = {}) => openPrompts(args, { ...options, env: merchant.env }),
    open: (args, { env, ...options } = {}) =>
      openTerminal(args, {
        ...options,
        env: { ...merchant.env, TZ: "Asia/Dhaka", NO_COLOR: "1", ...env },
      }),
  };
}

/** The prompts of a refund in their order, and an answer to each. */
export function refundAnswers({ order42 }: Shop): [string, string, string?][] {
  return [
    ["Which payment?", "42,", order42], // with the comma: a random ID may contain "42"
    ["Amount to refund", "250.25"],
    ["Account type", ""],
    ["Refund to account number", "01812345678"],
    ["Note", "it's damaged"],
  ];
}

export async function answerAll(
  terminal: Prompts,
  answers: [string, string, string?][],
): Promise<void> {
  for (const [question, text, found] of answers) await terminal.answer(question, text, found);
}
