import type { Endpoint, Route } from "../api/contract/endpoint.ts";
import { contract, endpointAt, patternOf, type ServiceRecord } from "../api/contract/index.ts";
import { type Paisa, readAmount } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { readIdentifier, readRefundAccount } from "../domain/identifier.ts";
import { isObject } from "../domain/json.ts";
import { readAnyRecipient, readRecipient } from "../domain/mobile.ts";
import { readReference } from "../domain/reference.ts";
import { type Result, withoutEnds } from "../domain/result.ts";
import { decodedPath } from "../domain/url.ts";
import type { Operation } from "../ledger/operation.ts";
import { createPayment, createRefund, type Repeat } from "./create.ts";
import type { OperationDeps } from "./deps.ts";
import { isRocket } from "./method.ts";
import { sendPayout } from "./payout/send.ts";
import { dataOf } from "./response-failure.ts";
import { cancelRefund, triggerPayment, triggerPayout } from "./status-transition.ts";

interface Call {
  method: string;
  path: string;
  body: Fields | undefined;
}

/** What the flags of a raw call decide. */
interface RawChoices extends Repeat {
  /** Accepts an account number that looks like a mobile number with a digit missing or added. */
  accountNumberAsIs?: boolean;
}

/** A raw call that does what a command does. It runs the same function, so that the same checks apply. */
export interface RawWrite {
  endpoint: Endpoint;
  send(how: RawChoices, deps: OperationDeps): Promise<SentWrite>;
}

type Fields = Record<string, unknown>;
type Readings = Record<string, Result<unknown>>;

interface SentWrite {
  record: { status: string };
  /** An earlier payout of the same amount to the same recipient, or an equal payment. */
  earlier?: Operation | undefined;
}

/**
 * Finds what a raw call would change by an endpoint of the API; undefined for anything else.
 *
 * @throws Failure `raw.invalid-path` if the path may be that of an endpoint, and is not written as it is
 */
export function writeOf(call: Call, baseUrl: string): RawWrite | undefined {
  if (call.method === "GET") return undefined;
  if (isAmbiguous(call.path))
    throw invalidPath(
      "a path with '%' or ';' is not accepted.",
      "Write the path without these characters.",
    );
  if (hidesWrite(call, baseUrl))
    throw invalidPath(
      `the base URL ${baseUrl} already has a part of an endpoint's path.`,
      "Use a base URL that ends with /cp/api/v1, and a path such as /refund/create-a-request.",
    );
  const found = endpointAt(call.method, call.path);
  if (!found && isAlmostWrite(call.path))
    throw invalidPath(
      `${call.method} ${call.path} is not an endpoint, but is similar to one that changes something.`,
      "Write the method and the path as docs/api.md shows them.",
    );
  if (!found || found.endpoint.repeat === "safe") return undefined;
  const { name, endpoint, id } = found;
  const send: RawWrite["send"] = (how, deps) => sendAs(name, { ...call.body }, id, how, deps);
  return { endpoint, send };
}

const retrievals = {
  retrievePayment: "payment",
  retrievePayout: "payout",
  retrieveRefund: "refund",
} as const;

/** The record that the response to a raw call has, if the call retrieves one by its ID. */
export function recordIn(method: string, path: string, body: unknown) {
  const { name, endpoint, id } = endpointAt(method, path) ?? {};
  if (name !== "retrievePayment" && name !== "retrievePayout" && name !== "retrieveRefund")
    return undefined;
  const read = contract[name].data?.safeParse(isObject(body) ? body.data : undefined);
  if (!read?.success || id === undefined) return undefined;
  const record: ServiceRecord & Fields = read.data;
  return record[endpoint?.about ?? ""] === id ? { kind: retrievals[name], id, record } : undefined;
}

/** True for the path of such an endpoint with another method, or with more characters that a server may ignore. */
function isAlmostWrite(path: string): boolean {
  const [plain = ""] = path.split("?");
  return writesAt(plain.replace(/[^a-z0-9]+$/i, "")).length > 0;
}

/** The endpoints that change something and whose path this one ends with. */
function writesAt(path: string): Endpoint[] {
  return Object.values(contract).filter(
    (endpoint: Endpoint) => endpoint.repeat !== "safe" && patternOf(endpoint, "").test(path),
  );
}

function invalidPath(problem: string, hint: string): Failure {
  return new Failure("raw.invalid-path", `<path>: ${problem}`, { hint });
}

/** True if a server could decode or cut the path to another one. `readPath` rejects the other ways. */
export function isAmbiguous(path: string): boolean {
  return /^[^?]*[%;]/.test(path);
}

/** True if the whole URL is an endpoint that changes something, although the path alone is not. */
export function hidesWrite(call: Pick<Call, "method" | "path">, baseUrl: string): boolean {
  if (endpointAt(call.method, call.path)) return false;
  const [path = ""] = (decodedPath(new URL(baseUrl).pathname) + call.path).split("?");
  return writesAt(path).some(({ method }) => method === call.method);
}

/** The methods are requested for a number that only Rocket has. */
async function readPayee(
  { recipientNumber, paymentMethodId }: { recipientNumber: string; paymentMethodId: string },
  deps: OperationDeps,
): Promise<Result<unknown>> {
  const number = readRecipient(recipientNumber, true);
  if (!number.ok || number.value.account === undefined) return number;
  const methods = dataOf(await deps.client.listMethods({}));
  return readRecipient(recipientNumber, isRocket(paymentMethodId, methods));
}

/**
 * Reads the body, and sends it as the command does.
 *
 * @throws Failure `raw.invalid-body` if it is not what the endpoint requires; or that of the command
 */
async function sendAs(
  name: keyof typeof contract,
  given: Fields,
  id: string,
  how: RawChoices,
  deps: OperationDeps,
): Promise<SentWrite> {
  switch (name) {
    case "createPayout": {
      // The client sets the timestamp of each attempt (I7).
      const body = read(contract[name], { ...given, timestamp: 0 }, "payout send");
      const { merchantRef: reference, timestamp: _, amount, ...order } = body;
      const amountPaisa = amountOf(amount, "payout send", {
        merchantRef: readReference(reference),
        recipientNumber: how.accountNumberAsIs
          ? readAnyRecipient(order.recipientNumber, true)
          : await readPayee(order, deps),
      });
      const recipientNumber = withoutEnds(order.recipientNumber, " ");
      const payout = { ...order, recipientNumber, amountPaisa, reference };
      const sent = await sendPayout(payout, deps, how);
      return { record: sent.payout, earlier: sent.earlier };
    }
    case "createPayment": {
      const { amount, ...input } = read(contract[name], given, "pay create");
      const amountPaisa = amountOf(amount, "pay create");
      const { payment: record, earlier } = await createPayment(amountPaisa, input, how, deps);
      return { record, earlier };
    }
    case "createRefund": {
      const { amount, ...input } = read(contract[name], given, "refund create");
      const amountPaisa = amountOf(amount, "refund create", {
        transactionId: readIdentifier(input.transactionId),
        accountNumber: readRefundAccount(input.accountNumber, {
          asIs: how.accountNumberAsIs ?? false,
        }),
      });
      return { record: await createRefund(amountPaisa, input, how, deps) };
    }
    case "cancelRefund": {
      const { note } = read(contract[name], given, "refund cancel");
      return { record: await cancelRefund(id, note, deps) };
    }
    case "triggerPayment": {
      const { transactionId } = read(contract[name], given, "sandbox trigger payment");
      check({ transactionId: readIdentifier(transactionId) }, "sandbox trigger payment");
      return { record: await triggerPayment(transactionId, deps) };
    }
    case "triggerPayout": {
      const { payoutId } = read(contract[name], given, "sandbox trigger payout");
      check({ payoutId: readIdentifier(payoutId) }, "sandbox trigger payout");
      return { record: await triggerPayout(payoutId, deps) };
    }
    default:
      throw new TypeError(`${name} changes nothing`);
  }
}

function read<Body>(endpoint: Endpoint<Route, Body>, given: Fields, command: string): Body {
  const found = endpoint.body?.safeParse(given);
  if (found?.success) return found.data;
  const issues = found?.error.issues ?? [];
  const unknown = new Set(
    issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : [])),
  );
  const names = [...issues.flatMap(({ path }) => path.map(String)), ...unknown];
  const problems = [...new Set(names)].map((name) => {
    if (given[name] === undefined) return `${name}: this field is required.`;
    // A name that is not a plain word may be anything, a secret too.
    const shown = /^[A-Za-z_]\w{0,40}$/.test(name) ? name : "A field";
    return `${shown}: ${unknown.has(name) ? "not a field of this request" : "not a valid value"}.`;
  });
  throw invalid(problems, command);
}

function amountOf(amount: number, command: string, others: Readings = {}): Paisa {
  const reading = readAmount(String(amount));
  check({ ...others, amount: reading }, command);
  if (!reading.ok) throw new TypeError("an amount that was not checked");
  return reading.value;
}

function check(readings: Readings, command: string): void {
  const problems = Object.entries(readings).flatMap(([name, reading]) =>
    reading.ok ? [] : [`${name}: ${reading.problem}`],
  );
  if (problems.length > 0) throw invalid(problems, command);
}

function invalid([first = "", ...problems]: string[], command: string): Failure {
  const hint = `Correct the body, or use 'lenden ${command}'.`;
  return new Failure("raw.invalid-body", first, { problems, hint });
}
