import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Fault, readFault } from "../../src/contract/fault.ts";
import { message, sign } from "../../src/contract/signature.ts";
import { paymentMethods } from "../../src/sandbox/methods.ts";
import type { SandboxOptions } from "../../src/sandbox/server.ts";
import {
  type AtEnd,
  type Merchant,
  openMerchant,
  paymentOf,
  payoutOf,
  refundOf,
} from "../merchant.ts";
import { launcher } from "../run.ts";

/** Where an example is run: a merchant of its own, a folder to work in, programs on the PATH. */
export interface Stage {
  line: string;
  folder: string;
  env: Record<string, string>;
  /** Whether it goes on until somebody stops it. */
  endless: boolean;
}

/** What an example that matches needs; what it returns stands in its line for what is shown there. */
interface Need {
  when: RegExp;
  prepare(merchant: Merchant, folder: string): Promise<Record<string, string>>;
}

const payment = "TX8F3K2Q";

const payoutBody = JSON.stringify({
  amount: 500,
  merchantRef: "INV-9",
  recipientNumber: "01712345678",
  paymentMethodId: paymentMethods[0]?.id,
});

/** An example about a payment whose answer got lost. */
const isDoubtful = /OP01JD…/;

/** An example takes every need that it matches; what the first of them replaced is no longer there. */
const needs: Need[] = [
  {
    when: /trigger[ -]payment/,
    prepare: async (merchant) => ({ [payment]: await merchant.id(paymentOf("unpaid")) }),
  },
  { when: isDoubtful, prepare: uncertainPayment },
  {
    when: new RegExp(`${payment}|pay (?:get|wait) @|ledger show @`),
    prepare: async (merchant) => ({ [payment]: await newPayment(merchant) }),
  },
  {
    when: /payout get @2/,
    prepare: async (merchant) => {
      for (const reference of ["A-1", "A-2"]) await merchant.id(payoutOf(reference));
      return {};
    },
  },
  {
    when: /PO19ZK|payout list|ledger show/,
    prepare: async (merchant) => ({ PO19ZK: await merchant.id(payoutOf("INV-7")) }),
  },
  {
    when: /payout wait/,
    prepare: async (merchant) => {
      await merchant.set("payout", await merchant.id(payoutOf("A-1")), "Completed");
      return {};
    },
  },
  { when: /RF77/, prepare: async (merchant) => ({ RF77: await newRefund(merchant) }) },
  {
    when: /refund wait/,
    prepare: async (merchant) => {
      await merchant.set("refund", await newRefund(merchant), "Completed");
      return {};
    },
  },
  { when: /5f2b…/, prepare: async ({ env }) => ({ "5f2b…": signatureOf(env) }) },
  {
    when: /sandbox requests/,
    prepare: async (merchant) => {
      await merchant.id(paymentOf("asked"));
      return {};
    },
  },
  {
    when: /payroll\.csv --delimiter semicolon/,
    prepare: writes("payroll.csv", payroll().replaceAll(",", ";")),
  },
  {
    when: /(?:check|send|status|export) payroll\.csv(?!.*semicolon)/,
    prepare: writes("payroll.csv", payroll()),
  },
  {
    when: /(?:status|export) payroll\.csv/,
    prepare: async (merchant, folder) => {
      await merchant.id(["payout", "batch", "send", join(folder, "payroll.csv")]);
      return {};
    },
  },
  { when: /payout\.json/, prepare: writes("payout.json", payoutBody) },
  { when: /payroll\.sh/, prepare: writes("payroll.sh", "#!/bin/sh\nlenden methods\n") },
  {
    when: /--key-file/,
    prepare: async (merchant, folder) => {
      writeFileSync(join(folder, "key.txt"), merchant.apiKey);
      writeFileSync(join(folder, "secret.txt"), merchant.env.LENDEN_PAYOUT_SECRET ?? "");
      return {};
    },
  },
  { when: /profile (?:show|use|set|rename)/, prepare: (merchant) => profile("shop", merchant) },
  { when: /profile remove/, prepare: (merchant) => profile("old-shop", merchant) },
];

/** Prepares everything that an example needs. */
export async function stageFor(example: string, atEnd: AtEnd): Promise<Stage> {
  const service = serviceFor(example);
  const merchant = await openMerchant(service, atEnd);
  const folder = join(merchant.env.LENDEN_CONFIG_DIR ?? "", "work");
  mkdirSync(folder);
  let line = example;
  for (const { when, prepare } of needs) {
    if (!when.test(line)) continue;
    for (const [shown, real] of Object.entries(await prepare(merchant, folder)))
      line = line.replaceAll(shown, real);
  }
  if (service.faults.length > 0) {
    service.faults = [];
    await merchant.close();
    await merchant.comeBack();
  }
  const env = { ...envOf(example, merchant), PATH: programs(merchant, folder) };
  // The usual port may be taken on the machine of whoever runs the tests.
  const isServer = /sandbox start/.test(line);
  if (isServer && !line.includes("--port")) line += " --port 0";
  return { line, folder, env, endless: isServer || line.includes("--follow") };
}

/** Where an example waits for many, the service completes them by itself. */
function serviceFor(example: string): Partial<SandboxOptions> & { faults: Fault[] } {
  const lost = readFault("createPayment:lost-reply");
  return {
    faults: isDoubtful.test(example) && lost.ok ? [lost.value] : [],
    ...(/batch .*--wait/.test(example) ? { autoCompleteMs: 1 } : {}),
  };
}

/** Profiles count only where no variable goes before them. */
function envOf(example: string, { env }: Merchant): Record<string, string> {
  const { LENDEN_BASE_URL: _, LENDEN_API_KEY: __, LENDEN_PAYOUT_SECRET: ___, ...others } = env;
  return /profile /.test(example) ? others : env;
}

/** A payment whose answer got lost, and its operation; the service is well again afterwards. */
async function uncertainPayment(merchant: Merchant): Promise<Record<string, string>> {
  const { code } = await merchant.lenden(paymentOf("doubt"));
  if (code !== 75) throw new Error(`the payment ended with ${code} instead of 75`);
  const [made] = await merchant.books("payments");
  const [operation] = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT id FROM operations").all(),
  );
  return { [payment]: String(made?.id), "OP01JD…": String(operation?.id) };
}

/** A paid one, of the amount that the examples speak of. */
async function newPayment(merchant: Merchant): Promise<string> {
  const what = ["--amount", "1250.50", "--description", "Order 41", "--method", "bkash"];
  const id = await merchant.id(["pay", "create", ...what]);
  await merchant.set("payment", id, "Completed");
  return id;
}

async function newRefund(merchant: Merchant): Promise<string> {
  return merchant.id(refundOf(await newPayment(merchant), "50"));
}

async function profile(name: string, merchant: Merchant): Promise<Record<string, string>> {
  const argv = ["profile", "add", name, "--key-stdin", "--base-url", merchant.baseUrl];
  const { code, stderr } = await merchant.lenden(argv, { stdin: merchant.apiKey });
  if (code !== 0) throw new Error(stderr);
  return {};
}

/** The signature that the example of `payout verify` speaks of. */
function signatureOf({ LENDEN_PAYOUT_SECRET: secret = "" }: Record<string, string>): string {
  const signed = { amountPaisa: 50_000n, reference: "INV-7", timestamp: 1_763_614_800 };
  return sign(message(signed), secret);
}

/** Twelve rows that come to 152000.50, as an example expects. */
function payroll(): string {
  const rows = Array.from({ length: 12 }, (_, index) => {
    const amount = index === 0 ? "20000.50" : "12000";
    return `SAL-${index},${amount},017123456${10 + index},bkash`;
  });
  return ["ref,amount,to,method", ...rows, ""].join("\n");
}

function writes(name: string, content: string): Need["prepare"] {
  return async (_, folder) => {
    writeFileSync(join(folder, name), content, { mode: 0o700 });
    return {};
  };
}

/** A folder of programs that examples name: lenden itself, and what a reader has of their own. */
function programs(merchant: Merchant, folder: string): string {
  const bin = join(folder, "..", "bin");
  mkdirSync(bin);
  const scripts = {
    lenden: `exec "${process.execPath}" "${launcher}" "$@"`,
    npm: "exit 0",
    pass: `echo ${merchant.apiKey}`,
  };
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return `${bin}:${process.env.PATH}`;
}
