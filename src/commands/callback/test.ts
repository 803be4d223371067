import { lookup } from "node:dns/promises";
import { writeFileSync } from "node:fs";
import { caseNames, type TestResult, testHandler } from "../../callbacks/conformance.ts";
import { readText } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import type { Paisa } from "../../domain/amount.ts";
import { systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { readHandlerUrl } from "../../domain/url.ts";
import { localPages } from "../sandbox/exchanges.ts";

const url = "http://127.0.0.1:3000";

export const callbackTest = defineCommand({
  description:
    "Sends your handler genuine and forged callbacks about payments of the local sandbox. The handler must use the same sandbox: run both in 'lenden sandbox exec', or keep 'lenden sandbox start' running. With --orders, lenden also checks what your store recorded; without it, some cases stay undecided.",
  examples: {
    "Test a handler and what its store recorded": `lenden callback test ${url}/callback --orders ${url}/orders/{id}`,
  },
  arguments: {
    url: argument.required(
      "url",
      "URL of your handler; {order} stands for the payment's description",
      readHandlerUrl,
    ),
  },
  flags: {
    orders: flag.optional(
      "--orders <url>",
      "URL of an order in your store; {id} stands for the transaction ID",
      readTemplate,
    ),
    only: flag.many(
      "--only <case>",
      "Run only this case, such as forged, and the genuine callback",
      oneOf(caseNames),
    ),
    answerWithin: flag.optional(
      "--answer-within <duration>",
      "Maximum response time (default: 10s)",
      readDuration,
    ),
    settle: flag.optional(
      "--settle <duration>",
      "Wait before lenden checks the orders (default: 1s)",
      readDuration,
    ),
    ownHost: flag.optional(
      "--own-host <host>",
      "Host of your handler, if not this machine",
      readText,
    ),
    junit: flag.optional("--junit <file>", "Write a JUnit report", ok<string>, "file"),
  },
  list: true,
  sandboxOnly: true,
  patient: true,
  mode: "act",
  exitCodes: {
    refused: "your --orders URL rejected an order of the test",
    unverified: "a case failed or is undecided",
  },
  async *run({ only, settle = 1_000, answerWithin = 10_000, ...given }, context) {
    for (const one of [given.url, given.orders]) if (one) await checkHost(one, given.ownHost);
    const { openTransport } = await import("../../api/transport.ts");
    const transport = openTransport({ http: undefined, https: undefined, none: undefined });
    const { cutOff, stopping } = context;
    const signal = AbortSignal.any([stopping, cutOff]);
    try {
      const results = await testHandler({
        url: given.url,
        orders: given.orders,
        transport,
        signal,
        timeoutMs: answerWithin,
        ...(await sandboxFor(context)),
        names: caseNames.filter((name) => name === "genuine" || !only[0] || only.includes(name)),
        settle: () => context.host.sleep(settle, signal),
      });
      yield* results;
      if (given.junit !== undefined) writeReport(given.junit, results);
    } catch (cause) {
      if (!cutOff.aborted || stopping.aborted) throw cause;
      const message = "The time limit (--timeout) elapsed before the test ended.";
      const hint = "Set a longer --timeout, or choose cases with --only.";
      throw new Failure("callback.test-timed-out", message, { hint, cause });
    } finally {
      await transport.close();
    }
  },
  output: ({ z, text, textOrNull, count, amountOrNull, each }) =>
    z.strictObject({
      ...each(text, "case sent transactionId explanation"),
      responses: z.array(z.strictObject({ status: z.nullable(count), fault: textOrNull })),
      retrievals: count,
      booked: amountOrNull,
      verdict: z.enum(["passed", "failed", "undecided"]),
      hint: textOrNull,
    }),
  view: (result) => ({
    kind: "step",
    id: result.case,
    check: result.case,
    state: result.verdict,
    message: `Sent ${result.sent} ${responsesOf(result)} ${result.explanation}`,
    hint: result.hint,
  }),
  ending: ({ verdict }) => (verdict === "passed" ? undefined : "unverified"),
});

/** @throws Failure `callback.handler-elsewhere` if it is another machine that the user did not name */
async function checkHost(template: string, ownHost: string | undefined): Promise<void> {
  const host = new URL(template).hostname.replace(/^\[|\]$/g, "");
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0)
    throw new Failure("callback.handler-unreachable", `Cannot find an IP address of ${host}.`, {
      hint: "Check the host in the URL.",
    });
  const isHere = found.every(({ address }) => /^(?:::ffff:)?127\.|^::1$/.test(address));
  if (isHere || host.toLowerCase() === ownHost?.toLowerCase()) return;
  const message = `${host} is another machine, so lenden does not send false callbacks to it.`;
  const hint = `If this host is yours, add --own-host ${host}.`;
  throw new Failure("callback.handler-elsewhere", message, { hint });
}

/** How a test uses the local sandbox: its log shows which payments the handler retrieved. */
async function sandboxFor(context: Context) {
  const { createPayment } = await import("../../operations/create.ts");
  const { triggerPayment } = await import("../../operations/status-transition.ts");
  const { retrieveRecord } = await import("../../operations/status.ts");
  const { listExchanges } = await context.api.local();
  let after = 0;
  const retrieved = async (): Promise<string[]> => {
    const paths: string[] = [];
    for await (const page of localPages(listExchanges, after)) {
      after = page.at(-1)?.number ?? after;
      paths.push(...page.map(({ path }) => path));
    }
    return paths.flatMap((path) => /\/payment\/retrieve\/([^/]+)$/.exec(path)?.[1] ?? []);
  };
  await retrieved().catch((cause: unknown) => {
    if (!(cause instanceof Failure) || cause.kind !== "not-found") throw cause;
    const message = "This command needs a local sandbox, but the base URL is that of another API.";
    const hint = "Run the command with 'lenden sandbox exec', or add --profile local.";
    throw new Failure("callback.not-local-sandbox", message, { hint, cause });
  });
  const deps = await context.api.deps();
  const { origin } = new URL((await context.config.account()).baseUrl);
  const urls = { redirect_url: `${origin}/return`, callback_url: `${origin}/callback` };
  const paymentMethodId = (await context.api.methods())[0]?.id ?? "";
  const run = Buffer.from(context.host.randomBytes(4)).toString("hex");
  const pay = async (name: string, amountPaisa: Paisa, isPaid: boolean) => {
    const order = { ...urls, paymentMethodId, description: `test-${run}-${name}` };
    const { payment } = await createPayment(amountPaisa, order, { again: false }, deps);
    const { transactionId } = payment;
    if (isPaid) await triggerPayment(transactionId, deps);
    return { ...(await retrieveRecord("payment", transactionId, deps)) };
  };
  return { retrieved, pay };
}

function responsesOf({ responses, retrievals }: TestResult): string {
  const all = responses.map(({ status, fault }) => fault ?? status).join(", ");
  return `Responses: ${all}; retrieved ${retrievals} times.`;
}

function writeReport(file: string, results: TestResult[]): void {
  try {
    writeFileSync(file, junitReport(results));
  } catch (cause) {
    const message = `Cannot write the report ${file}: ${systemReason(cause)}.`;
    const hint = "Check the directory and its permissions, or name another file.";
    throw new Failure("callback.report-not-written", message, { cause, hint });
  }
}

/** An undecided case is `skipped`. */
export function junitReport(results: TestResult[]): string {
  const count = (verdict: string) => results.filter((one) => one.verdict === verdict).length;
  const counts = `tests="${results.length}" failures="${count("failed")}" errors="0" skipped="${count("undecided")}"`;
  const cases = results.map((one) => {
    const reason = escaped(one.explanation);
    const details = escaped(`Sent ${one.sent}\n${responsesOf(one)}`);
    const outcomes = {
      passed: "",
      failed: `<failure message="${reason}">${details}</failure>`,
      undecided: `<skipped message="${reason}"/>`,
    };
    return `<testcase classname="lenden callback test" name="${one.case}">${outcomes[one.verdict]}<system-out>${details}</system-out></testcase>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}><testsuite name="lenden callback test" ${counts}>\n${cases.join("")}</testsuite></testsuites>\n`;
}

/** XML 1.0 cannot contain control characters or unpaired surrogates: they are omitted. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function readTemplate(text: string): Result<string> {
  const read = readHandlerUrl(text, "http://127.0.0.1:3000/orders/{id}");
  return !read.ok || text.includes("{id}") ? read : err("Add {id} for the transaction ID.");
}
