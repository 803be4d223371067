import { readText } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import { caseNames, type TestResult, testHandler } from "../../conformance/handler.ts";
import { prepareReport, type TestCase, writeReport } from "../../conformance/junit.ts";
import { requireOwnHost } from "../../conformance/own-host.ts";
import { Failure } from "../../domain/failure.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { readHandlerUrl } from "../../domain/url.ts";

const url = "http://127.0.0.1:3000";
const suite = "lenden callback test";

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
    for (const one of [given.url, given.orders]) if (one) await requireOwnHost(one, given.ownHost);
    if (given.junit !== undefined) prepareReport(given.junit, suite);
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
      if (given.junit !== undefined) writeReport(given.junit, suite, results.map(caseOf));
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

function caseOf(result: TestResult): TestCase {
  const { case: name, verdict, explanation, sent } = result;
  return { name, verdict, explanation, details: `Sent ${sent}\n${responsesOf(result)}` };
}

/** The responses of a handler, as a sentence. */
function responsesOf({ responses, retrievals }: TestResult): string {
  const all = responses.map(({ status, fault }) => fault ?? status).join(", ");
  return `Responses: ${all}; retrieved ${retrievals} times.`;
}

/** The payments of the test, in the local sandbox. */
async function sandboxFor({ api, config, host }: Context) {
  const { openTestPayments } = await import("../../conformance/test-payments.ts");
  return openTestPayments(await api.local(), await api.deps(), {
    baseUrl: (await config.account()).baseUrl,
    methods: await api.methods(),
    run: Buffer.from(host.randomBytes(4)).toString("hex"),
  });
}

function readTemplate(text: string): Result<string> {
  const read = readHandlerUrl(text, "http://127.0.0.1:3000/orders/{id}");
  return !read.ok || text.includes("{id}") ? read : err("Add {id} for the transaction ID.");
}
