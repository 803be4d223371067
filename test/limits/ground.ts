import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentVariables } from "../../src/config/agents.ts";
import { type LimitName, limitNames } from "../../src/domain/limit.ts";
import { foldersOf } from "../../src/platform/host.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { openProductionMerchant, paymentOf, withFlags } from "../support/merchant.ts";
import { closedPort } from "../support/server.ts";
import { type Change, type Command, settingsOf, shortestLine, type Values } from "./changes.ts";

/** What bounds agents in a ledger, and orders that are above it. */
export interface Bounds {
  name: string;
  limits: Partial<Record<LimitName, string>>;
  /** Of each payout and refund that is tried, in taka. */
  amount: number;
  /** Why a payout and a refund are not sent. */
  reasons: { payout: string; refund: string };
  /** True if each payout repeats the one that was sent before. */
  repeats?: boolean;
}

/** A line of a command, and why it moves no money if an agent runs it. */
interface Line {
  words: string[];
  /** Absent if it would move none anyway. */
  reason?: string;
  /** True if only a person sends it, whatever the limits are. */
  isOfPerson?: boolean;
}

/** Ledgers on a server: the one with the limits, and one that has none. */
export interface Ledgers {
  own: string;
  other: string;
}

/** What an agent has sent before, in taka: it is in the books, and it counts. */
const earlier = { taka: 100, to: "01712345678" };
const otherKey = "public-ABC-MNOPQRSTUVWX-XYZ";
const header = "ref,amount,to,method\n";
const movesMoney = /\/(?:payout\/create-by-server|refund\/create-a-request)$/;
const agents = [
  { LENDEN_ACTOR: "agent" },
  ...agentVariables.map(({ variable, values: [value] = ["1"] }) => ({ [variable]: value ?? "1" })),
];

/**
 * A production account with profiles, limits, and something of all that commands can name. All runs are in this process,
 * with the usual directories of a home.
 */
export async function openGround(bounds: Bounds, ledgers?: Ledgers) {
  const merchant = await openProductionMerchant();
  const { LENDEN_API_KEY: key = "", LENDEN_PAYOUT_SECRET: secret = "" } = merchant.env;
  const home = scratchFolder();
  const run = (words: string[], env: Record<string, string> = {}, stdin?: string) => {
    const folders = foldersOf({ ...env, HOME: home }, { platform: "linux", home });
    return lenden(words, {
      env: { HOME: home, LENDEN_OUTPUT: "json", ...env },
      host: { folders },
      ...(stdin !== undefined && { stdin }),
    });
  };
  /** A person's run without a terminal, and what it printed. */
  const byPerson = async (words: string[], { code = 0, stdin = "", env = {} } = {}) => {
    const ended = await run([...words, "--yes"], env, stdin);
    if (ended.code !== code) throw new Error(`${words.join(" ")}: ${ended.stderr}`);
    return ended.stdout === "" ? undefined : JSON.parse(ended.stdout);
  };
  const file = (name: string, text: string): string => {
    const path = join(home, name);
    writeFileSync(path, text);
    return path;
  };
  const addProfile = (name: string, apiKey = key) => {
    const line = ["profile", "add", name, "--key-stdin", "--secret-stdin", "--method", "bkash"];
    const shared = ledgers ? ["--ledger", ledgers.own] : [];
    return byPerson([...line, "--base-url", merchant.baseUrl, ...shared], {
      stdin: `${apiKey}\n${secret}\n`,
    });
  };

  for (const [name, apiKey] of [["shop"], ["twin"], ["stranger", otherKey]])
    await addProfile(String(name), apiKey);
  const paid = await byPerson(withFlags(paymentOf("tea"), { "--amount": "1000" }));
  const payment = String(paid.transactionId);
  await merchant.complete("payments", payment);
  const [{ id: methodId }] = await byPerson(["methods"]);

  // What a person ordered, and the API did not accept: a payout, and a batch.
  const taka = String(bounds.amount);
  const expected = ["--expect-total", taka, "--expect-count", "1"];
  const payoutTo = (to: string, reference: string, amount = taka) => [
    ...["payout", "send", "--amount", amount, "--to", to, "--ref", reference],
  ];
  const theirs = file("theirs.csv", `${header}THEIRS,${taka},01812345679,bkash\n`);
  await merchant.rotateKey(otherKey);
  await byPerson(payoutTo("01812345678", "PERSON"), { code: 4 });
  await byPerson(["payout", "batch", "send", theirs, ...expected], { code: 4 });
  await merchant.rotateKey(key);
  const [{ batch }] = await byPerson(["payout", "batch", "list"]);

  const set = (limits: Bounds["limits"]) =>
    byPerson([
      ...["limits", "set"],
      ...Object.entries(limits).flatMap(([name, value]) => [`--${name}`, value]),
    ]);
  const isBounded = bounds.limits["agent-day"] !== undefined;
  if (isBounded) await set(bounds.limits);
  await byPerson(payoutTo(earlier.to, "EARLIER", String(earlier.taka)), {
    env: isBounded ? { LENDEN_ACTOR: "agent" } : {},
  });

  let recipients = 0;
  /** No payout repeats another one, unless all repeat the first. */
  const recipient = (): string => {
    recipients += 1;
    return bounds.repeats ? earlier.to : `019${10_000_000 + recipients}`;
  };
  const bodyOf = (merchantRef: string) => ({
    ...{ merchantRef, amount: bounds.amount },
    ...{ recipientNumber: recipient(), paymentMethodId: String(methodId) },
  });
  const payouts = file("payouts.csv", `${header}FILE,${taka},${recipient()},bkash\n`);
  const raw = file("payout.json", JSON.stringify(bodyOf("RAW")));
  const fields = Object.entries(bodyOf("FIELDS")).flatMap(([name, value]) => [
    ...["--field", `${name}=${value}`],
  ]);
  const account = { accountType: "PERSONAL_ACCOUNT", accountNumber: "01812345678" };
  const refund = { transactionId: payment, amount: bounds.amount - 1, ...account, note: "tea" };
  const rawRefund = file("refund.json", JSON.stringify(refund));
  const { payout: ofPayout, refund: ofRefund } = bounds.reasons;
  const lines: Record<string, Line[]> = {
    "payout send": [
      { words: payoutTo(recipient(), "SENT").slice(2), reason: ofPayout },
      ...(bounds.repeats
        ? []
        : [{ words: payoutTo("01812345678", "PERSON").slice(2), reason: ofPayout }]),
    ],
    "payout batch send": [
      {
        words: [payouts, ...expected],
        reason: bounds.repeats ? "batch.invalid-file" : ofPayout,
      },
      {
        words: [batch, ...expected],
        reason: isBounded ? "agent.needs-person" : ofPayout,
        isOfPerson: true,
      },
    ],
    "refund create": [
      {
        words: [
          ...["--payment", payment, "--amount", taka, "--account-type", "personal"],
          ...["--account-number", "01812345678"],
        ],
        reason: ofRefund,
      },
    ],
    api: [
      { words: ["POST", "/payout/create-by-server", "--input", raw], reason: ofPayout },
      { words: ["POST", "/payout/create-by-server", ...fields], reason: ofPayout },
      { words: ["POST", "/refund/create-a-request", "--input", rawRefund], reason: ofRefund },
    ],
  };

  const unreachable = `postgres://ann@127.0.0.1:${await closedPort()}/lenden`;
  const values: Values = {
    "<bdt>": [taka],
    "<number>": [recipient()],
    "<text>": ["tea"],
    "<method>": ["bkash", "nagad"],
    "<reference>": ["NEW", "PERSON", "THEIRS"],
    "<duration>": ["20s"],
    "<n>": ["1"],
    "<file>": [payouts, theirs],
    "<list>": ["name", "1"],
    "<mapping>": ["name=description"],
    "<url>": [merchant.otherBaseUrl],
    "<name>": ["twin"],
    "<transaction-id>": [payment],
    "<key=value>": ["description=tea"],
    "--base-url": [merchant.otherBaseUrl, "https://example.invalid"],
    "--profile": ["twin", "stranger"],
    "--method-id": [String(methodId)],
    "--created": ["PO1"],
    "--input": [raw, rawRefund],
    "--own-host": ["localhost"],
    "--orders": [`${merchant.otherBaseUrl}/{id}`],
    payment: [payment],
    payout: ["EARLIER"],
    refund: ["RF1"],
    batch: [batch],
    operation: ["PERSON"],
    id: ["EARLIER"],
    url: [merchant.otherBaseUrl],
    "a directory": [scratchFolder()],
    "a variable": ["1", "0"],
    LENDEN_PROFILE: ["twin", "stranger"],
    LENDEN_API_KEY: [key, otherKey, "sk_sandbox_0123456789abcdef0123456789abcdef"],
    LENDEN_PAYOUT_SECRET: [secret, "another-secret-of-a-merchant"],
    LENDEN_CALLBACK_SECRET: ["0123456789abcdef0123456789abcdef"],
    LENDEN_BASE_URL: [merchant.baseUrl, merchant.otherBaseUrl],
    LENDEN_ACCOUNT: ["another"],
    LENDEN_LEDGER_URL: [ledgers?.other ?? unreachable],
    LENDEN_LEDGER_PASSWORD: ["password"],
    LENDEN_OUTPUT: ["json", "table"],
    LENDEN_ACTOR: ["agent", "person", "script"],
    "base-url": [merchant.otherBaseUrl],
    "redirect-url": [merchant.otherBaseUrl],
    "callback-url": [merchant.otherBaseUrl],
    method: ["nagad"],
    "number-format": ["local", "e164", "as-is"],
    "time-zone": ["Pacific/Kiritimati"],
    "confirm-above": ["1000000"],
    ledger: [ledgers?.other ?? unreachable],
    "ledger-password-command": ["echo password"],
    "ledger-ca": [payouts],
  };
  /** A profile with another value of a setting. */
  const profileChanges: Change[] = [];
  for (const { name, line } of settingsOf(values)) {
    const profile = `${name}-${profileChanges.length}`;
    await addProfile(profile);
    await byPerson([...line, "--profile", profile]);
    profileChanges.push({ words: (all) => [...all, "--profile", profile] });
  }

  let attempts = 0;
  return {
    values,
    profileChanges,
    linesOf: (command: Command): Line[] =>
      lines[command.name]?.map((line) => ({
        ...line,
        words: [...command.name.split(" "), ...line.words, "--yes"],
      })) ?? [{ words: [...shortestLine(command, values), "--yes"] }],
    /** A person lets agents send. */
    lift: () =>
      set({
        ...Object.fromEntries(limitNames.map((name) => [name, ""])),
        ...{ "agent-payout": "1000000", "agent-day": "1000000" },
      }),
    /** Runs a changed line as an agent, each time as another one. */
    attempt: async (line: string[], ...changes: Change[]) => {
      const env = Object.assign({}, ...changes.map((one) => one.env));
      attempts += 1;
      const recognized = "LENDEN_ACTOR" in env ? agents.slice(1) : agents;
      const agent = recognized[attempts % recognized.length];
      const words = changes.reduce((all, change) => change.words(all), line);
      const before = merchant.requested.length;
      const ended = await run(words, { ...agent, ...env });
      const moved = merchant.requested.slice(before).filter((one) => movesMoney.test(one));
      const { reason = `exit ${ended.code}` } = errorOf(ended);
      const shown = JSON.stringify({ words, env: { ...agent, ...env } });
      return { reason: String(reason), moved, shown, stderr: ended.stderr };
    },
  };
}
