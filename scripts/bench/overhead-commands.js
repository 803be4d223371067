// One command of every kind that ends by itself, and what must exist before it can run.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerText, bkash, signedPayout } from "./asking.js";
import { launcher, timed } from "./commands.js";

/**
 * `{ name, words }`: the words of a run, of which there will be so many; each time another record
 * where something can happen only once.
 */
export async function prepareCommands(sandbox, { env, folder, runs }) {
  mkdirSync(folder, { recursive: true });
  const call = caller(sandbox);
  const payment = await completedPayment(call);
  const refunds = await repeat(runs + 1, (index) => refund(call, payment, 1 + index));
  const open = await repeat(runs, () => newPayment(call));
  const signed = signedPayout(sandbox, { merchantRef: "OF-THE-BENCH" });
  const { payoutId } = await call("/payout/create-by-server", signed.body, signed.headers);
  await call("/sandbox/trigger-payout", { payoutId });
  const callback = join(folder, "callback.json");
  writeFileSync(callback, JSON.stringify({ transactionId: payment, status: "Completed" }));
  const files = await repeat(runs + 1, (index) => payroll(folder, index));
  const sent = files[runs];
  timed([process.execPath, launcher, "payout", "batch", "send", sent], env);

  const account = "--account-type personal --account-number 01812345678";
  const number = "--to 01712345678 --method bkash";
  const { timestamp, merchantRef } = signed.body;
  return [
    same("methods"),
    same("pay create", "--amount 500 --description Order-43 --method bkash"),
    same("pay get", payment),
    same("pay wait", payment),
    same("pay list"),
    same("payout send", `--amount 5 ${number}`),
    same("payout get", payoutId),
    same("payout wait", payoutId),
    same("payout list"),
    same("payout sign", "--amount 5 --ref INV-7"),
    same(
      "payout verify",
      `--amount 5 --ref ${merchantRef} --timestamp ${timestamp} --signature ${signed.signature}`,
    ),
    each("payout batch template", (run) => join(folder, `template-${run}.csv`)),
    each("payout batch check", (run) => files[run]),
    each("payout batch send", (run) => files[run], "payout batch send (ten rows)"),
    same("payout batch status", sent),
    same("payout batch list"),
    same("payout batch export", sent),
    each("refund create", (run) => `--payment ${payment} --amount ${1000 + run} ${account}`),
    same("refund get", refunds[runs]),
    same("refund wait", `${refunds[runs]} --wait-timeout 1ms`, "refund wait (1 ms)"),
    same("refund list"),
    each("refund cancel", (run) => refunds[run]),
    same("sandbox trigger payment", payment),
    same("sandbox trigger payout", payoutId),
    each("sandbox set", (run) => `payment ${open[run]} Completed`),
    same("sandbox info"),
    same("sandbox requests"),
    same("profile list"),
    same("profile show"),
    same("ledger show", "B-0-0"),
    same("ledger resolve"),
    same("ledger export"),
    same("ledger check"),
    same("callback verify", callback),
    same("callback list"),
    same("api", "GET /payment/methods"),
    same("doctor"),
    same("completion", "bash"),
  ];
}

function same(command, rest, name) {
  return each(command, () => rest ?? "", name);
}

function each(command, rest, name = command) {
  const split = (text) => text.split(" ").filter((word) => word !== "");
  return { name, words: (run) => [...split(command), ...split(rest(run))] };
}

/** Calls the sandbox itself: what it is asked here is no command's. */
function caller(sandbox) {
  return async (path, body, headers) =>
    JSON.parse(await answerText(sandbox, path, { body, headers })).data;
}

async function newPayment(call) {
  const { transactionId } = await call("/payment/create", {
    amount: 900_000,
    description: "Order 42",
    paymentMethodId: bkash,
    redirect_url: "http://127.0.0.1:9/return",
    callback_url: "http://127.0.0.1:9/callback",
  });
  return transactionId;
}

async function completedPayment(call) {
  const transactionId = await newPayment(call);
  await call("/sandbox/trigger-payment", { transactionId });
  return transactionId;
}

async function refund(call, transactionId, amount) {
  const { refundRequestId } = await call("/refund/create-a-request", {
    transactionId,
    amount,
    accountType: "PERSONAL_ACCOUNT",
    accountNumber: "01812345678",
  });
  return refundRequestId;
}

/** Ten rows; no two files have the same references, or pay anybody the same. */
async function payroll(folder, index) {
  const file = join(folder, `payroll-${index}.csv`);
  const rows = Array.from(
    { length: 10 },
    (_, row) => `B-${index}-${row},${index + 1}.50,0171234567${row},bkash\n`,
  );
  writeFileSync(file, `ref,amount,to,method\n${rows.join("")}`);
  return file;
}

async function repeat(times, make) {
  const made = [];
  for (let index = 0; index < times; index += 1) made.push(await make(index));
  return made;
}
