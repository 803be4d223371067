import { expect, test } from "vitest";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { startService } from "../support/server.ts";

const statuses = [409, 423, 425, 429];
const bodies = {
  "a JSON object": '{"message":"later"}',
  "success: false": '{"success":false,"message":"no"}',
  "a page": "<h1>No</h1>",
  "an empty body": "",
};
const at = "2026-11-20T10:00:00Z";

/** An API that does what it is asked to, and responds to every write with this status and body. */
async function hiding(status: number, text: string) {
  const made = { payments: 0, refunds: 0 };
  const refund = { status: "Processing" };
  const service = await startService(({ method, path }) => {
    const common = { createdAt: at, updatedAt: at };
    if (method === "GET" && path.includes("/payment/"))
      return { data: { ...common, transactionId: "TX1", amount: 100, status: "Completed" } };
    if (method === "GET")
      return {
        data: { ...common, ...refund, refundRequestId: "RF1", transactionId: "TX1", amount: 40 },
      };
    if (path.endsWith("/payment/create")) made.payments += 1;
    if (path.endsWith("/refund/create-a-request")) made.refunds += 1;
    if (path.includes("/cancel-by-platform/")) refund.status = "Cancelled";
    return { status, text };
  });
  const run = (args: string[]) => lenden(args, { env: service.env, host: jumpingHost() });
  const states = async () => {
    const all: { state: string }[] = JSON.parse((await run(["ledger", "export", "--json"])).stdout);
    return all.map(({ state }) => state);
  };
  return { run, made, states };
}

const account = ["--account-type", "personal", "--account-number", "01812345678"];
const lines: [string, string[]][] = [
  ["refund create", ["refund", "create", "--payment", "TX1", "--amount", "40", ...account]],
  ["pay create", ["pay", "create", "--amount", "40", "--description", "x", "--method-id", "m"]],
  [
    "a raw refund",
    [
      ...["api", "POST", "/refund/create-a-request", "-f", "transactionId=TX1", "-f", "amount=40"],
      ...["-f", "accountType=PERSONAL_ACCOUNT", "-f", "accountNumber=01812345678"],
    ],
  ],
  [
    "a raw payment",
    [
      ...["api", "POST", "/payment/create", "-f", "amount=40", "-f", "description=x"],
      ...[
        "-f",
        "paymentMethodId=m",
        "-f",
        "redirect_url=https://a.b",
        "-f",
        "callback_url=https://a.b",
      ],
    ],
  ],
];
/** Each command gets each status and each body once. */
const cases = lines.flatMap(([name, line], index) =>
  Object.entries(bodies).map(([body, text], other) => {
    return { name, line, status: statuses[(index + other) % 4] ?? 409, body, text };
  }),
);

test.each(cases)(
  "P17: $name that gets $status with $body has an unknown outcome",
  async ({ line, status, text }) => {
    const { run, made, states } = await hiding(status, text);
    const first = await run(line);
    expect(first.code).toBe(75);
    expect(first.stderr).toContain("lenden ledger resolve");
    expect(await states()).toEqual(["UNCERTAIN"]);
    expect(await run(line)).toMatchObject({ code: 3 });
    expect(made.payments + made.refunds).toBe(1);
  },
);

test.each(statuses)(
  "P17: refunds of one payment stay within its amount after a %i",
  async (status) => {
    const { run, made } = await hiding(status, '{"success":false}');
    const refundOf = (amount: string) =>
      run(["refund", "create", "--payment", "TX1", "--amount", amount, ...account]);
    const codes = [];
    for (const amount of ["40", "41", "42", "43"]) codes.push((await refundOf(amount)).code);
    expect(codes).toEqual([75, 75, 3, 3]);
    expect(made.refunds).toBe(2);
  },
);

test.each(statuses)("P17: a cancellation that took effect succeeds after a %i", async (status) => {
  const { run, states } = await hiding(status, '{"success":false}');
  const cancel = await run(["refund", "cancel", "RF1", "--json"]);
  expect(cancel.code).toBe(0);
  expect(JSON.parse(cancel.stdout)).toMatchObject({ status: "Cancelled" });
  expect(await states()).toEqual(["CONFIRMED"]);
});
