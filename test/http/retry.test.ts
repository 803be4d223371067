import fc from "fast-check";
import { expect, test } from "vitest";
import { pauseBeforeReading } from "../../src/api/client.ts";
import type { Answer } from "../../src/api/response.ts";
import { pauseBeforeRetry } from "../../src/operations/payout/retry-policy.ts";
import { data, refused, unclear, unsent } from "../operations/scripted.ts";
import { runs } from "../support/helpers.ts";
import { serve, success } from "../support/server.ts";
import { client, payoutSecret } from "./answering.ts";

const reading = (answer: Answer, tries = 1, random = 0) =>
  pauseBeforeReading(answer, { tries, random });
const resending = (answer: Answer, attempt = 1, random = 0) =>
  pauseBeforeRetry(answer, { attempt, unreadable: attempt, random });

test.each<[string, Answer, number | undefined, number | undefined]>([
  ["data", data({}), undefined, undefined],
  ["no connection", unsent("connection refused"), 250, 500],
  ["a name not found", unsent("name not found"), 250, 500],
  ["a certificate", unsent("certificate"), undefined, undefined],
  ["being stopped, unsent", unsent("stopped"), undefined, undefined],
  ["being stopped, sent", unclear("stopped"), undefined, undefined],
  ["a lost connection", unclear("connection lost"), 250, 500],
  ["a timeout", unclear("no response in time"), 250, 10_000],
  ["a server error", unclear("server error", 503), 250, 500],
  ["a redirect", unclear("redirect", 307), undefined, 500],
  ["garbage with a 200", unclear("not JSON", 200), 250, 500],
  ["a wrong shape", unclear("wrong shape", 200), undefined, 500],
  ["a 401", refused("access", 401), undefined, undefined],
  ["a 404", refused("unknown id", 404), undefined, undefined],
  ["a 400", refused("refused", 400), undefined, undefined],
  ["a 409", refused("clash", 409), undefined, 500],
  ["a 429", refused("busy", 429), 250, 500],
  ["a 429 with 2 s", refused("busy", 429, 2_000), 2_000, 2_000],
  ["a 429 with 0 s", refused("busy", 429, 0), 0, 500],
  ["a 429 with an hour", refused("busy", 429, 3_600_000), 60_000, 60_000],
])("after %s: read again, send the same payout again", (_, answer, read, resend) => {
  expect(reading(answer)).toBe(read);
  expect(resending(answer)).toBe(resend);
});

test("a read is tried three times, a payout five times, a unreadable one twice", () => {
  const often = (pause: (answer: Answer, tries: number) => unknown, answer: Answer) =>
    [1, 2, 3, 4, 5, 6].filter((tries) => pause(answer, tries) !== undefined);
  const lost = unclear("connection lost");
  expect(often(reading, lost)).toEqual([1, 2]);
  expect(often(resending, lost)).toEqual([1, 2, 3, 4]);
  expect(often(resending, refused("busy", 429, 1))).toEqual([1, 2, 3, 4]);
  expect(often(resending, unclear("empty", 200))).toEqual([1]);
});

test("pauses double from one try to the next, and jitter only shortens them by half", () => {
  const lost = unclear("connection lost");
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), share, (attempt, random) => {
      const read = reading(lost, attempt, random) ?? 0;
      const resend = resending(lost, attempt, random) ?? 0;
      return (
        (attempt > 2 || (read >= 125 * 2 ** attempt && read <= 250 * 2 ** attempt)) &&
        resend >= 250 * 2 ** attempt &&
        resend <= 500 * 2 ** attempt &&
        (resending(unclear("no response in time"), attempt, random) ?? 0) >= 10_000
      );
    }),
    { numRuns: runs(300, 50_000) },
  );
});

test("nothing but a read is ever asked twice by the client", async () => {
  const server = await serve(() => ({ do: "answer", status: 503 }));
  const calls = client(server.baseUrl);
  const body = { amount: 5, paymentMethodId: "m" };
  await calls.createPayout({ ...body, merchantRef: "R", recipientNumber: "01712345678" });
  await calls.createPayment({ ...body, description: "", redirect_url: "", callback_url: "" });
  const account = { accountType: "PERSONAL_ACCOUNT", accountNumber: "1" } as const;
  await calls.createRefund({ amount: 5, transactionId: "TX1", ...account });
  await calls.cancelRefund({ refundRequestId: "RF1" });
  await calls.triggerPayment({ transactionId: "TX1" });
  await calls.triggerPayout({ payoutId: "PO1" });
  expect(server.asked.map(({ times }) => times)).toEqual([1, 1, 1, 1, 1, 1]);
});

test("I7: the timestamp is not of the time before the secret was found", async () => {
  const server = await serve(() => success({}));
  const startedMs = Date.now();
  let now = startedMs;
  const slow = async () => {
    now = startedMs + 400_000;
    return payoutSecret;
  };
  await client(server.baseUrl, { now: () => now, payoutSecret: slow }).createPayout({
    amount: 5,
    merchantRef: "R",
    recipientNumber: "01712345678",
    paymentMethodId: "m",
  });
  expect(JSON.parse(server.asked[0]?.body ?? "{}")).toMatchObject({
    timestamp: Math.floor(now / 1000),
  });
});
