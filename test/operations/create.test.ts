import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/api/response.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { createPayment, createRefund } from "../../src/operations/create.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { owner, worker } from "../ledger/small-ledger.ts";
import { paymentBody } from "../sandbox/running.ts";
import {
  data,
  failure,
  paisa,
  refused,
  type Script,
  scripted,
  startMs,
  unclear,
  unsent,
} from "./scripted.ts";

type Bad = Exclude<Answer, { kind: "data" }>;

const paymentMade = {
  transactionId: "TX1",
  payment_url: "https://pay.example/TX1",
  amount: 1250.5,
  status: "Processing",
};
const refundMade = {
  refundRequestId: "RF1",
  transactionId: "TX1",
  amount: 1250.5,
  status: "Processing",
};
const paid = { transactionId: "TX1", amount: 1250.5, status: "Completed" };
const rich = { ...paid, amount: 5_000 };
const { amount: _, ...paymentInput } = paymentBody;
const refundInput = {
  transactionId: "TX1",
  accountType: "PERSONAL_ACCOUNT",
  accountNumber: "01812345678",
} as const;

type OperationDeps = ReturnType<typeof scripted>["deps"];

interface More {
  again?: boolean;
  /** Of a payment. */
  description?: string;
}

const creations = [
  {
    what: "payment",
    name: "createPayment",
    script: (...answers: unknown[]) => ({ createPayment: answers }) as Script,
    run: async (deps: OperationDeps, { again = false, ...more }: More = {}) => {
      const input = { ...paymentInput, ...more };
      return (await createPayment(paisa("1250.50"), input, { again }, deps)).payment;
    },
    made: paymentMade,
  },
  {
    what: "refund",
    name: "createRefund",
    script: (...answers: unknown[]) =>
      ({ createRefund: answers, retrievePayment: [data(paid)] }) as Script,
    run: (deps: OperationDeps, { again = false }: More = {}) =>
      createRefund(paisa("1250.50"), refundInput, { again }, deps),
    made: refundMade,
  },
] as const;

describe.each(creations)("the creation of a $what", ({ what, name, script, run, made }) => {
  test("is one request, with the amount as its number", async () => {
    const one = scripted(script(data(made)));
    expect(await run(one.deps)).toEqual(made);
    expect(one.of(name).map(({ input }) => input)).toMatchObject([{ amount: 1250.5 }]);
  });

  test.each<[Bad, string]>([
    [unclear("connection lost"), "uncertain"],
    [unclear("no response in time"), "uncertain"],
    [unclear("stopped"), "uncertain"],
    [unclear("response ended early", 200), "uncertain"],
    [unclear("response too large", 200), "uncertain"],
    [unclear("not JSON", 200), "uncertain"],
    [unclear("empty", 200), "uncertain"],
    [unclear("wrong shape", 200), "uncertain"],
    [unclear("server error", 500), "uncertain"],
    [unclear("server error", 503), "uncertain"],
    [unclear("redirect", 307), "uncertain"],
    [unclear("unexpected status", 408), "uncertain"],
    [unclear("certificate"), "uncertain"],
    [refused("refused", 400), "refused"],
    [refused("refused", 200), "refused"],
    [refused("access", 401), what === "payment" ? "access" : "uncertain"],
    [refused("unknown id", 404), "refused"],
    [refused("clash", 409), "uncertain"],
    [refused("busy", 423), "uncertain"],
    [refused("busy", 425), "uncertain"],
    [refused("busy", 429, 10), "uncertain"],
  ])("is not retried once it was sent (%#)", async (bad, wanted) => {
    const one = scripted(script(bad));
    const { kind, reason } = await failure(run(one.deps));
    expect(kind).toBe(wanted);
    if (wanted === "uncertain") expect(reason).toBe(`${what}.outcome-unknown`);
    expect(one.of(name)).toHaveLength(1);
  });

  test.each<[Bad & { kind: "refused" }, string]>([
    [refused("access", 401), what === "payment" ? "access" : "uncertain"],
    [refused("access", 403), what === "payment" ? "access" : "uncertain"],
    [refused("clash", 409), "uncertain"],
    [refused("busy", 425), "uncertain"],
    [refused("busy", 429), "uncertain"],
  ])(
    "has an unknown outcome if a page rejects it, which is not the API's own response (%#)",
    async (bad, wanted) => {
      const one = scripted(script({ ...bad, isJson: false }));
      expect((await failure(run(one.deps))).kind).toBe(wanted);
      expect(one.of(name)).toHaveLength(1);
    },
  );

  test("P3: is not sent if the machine sleeps before a retry, and the next one is", async () => {
    const onSleep = (state: { nowMs: number }) => {
      state.nowMs += 25 * 3_600_000;
    };
    const timeoutMs = 48 * 3_600_000;
    const two = {
      ...script(unsent("connection refused"), data(made)),
      retrievePayment: [data(paid), data(paid)],
    };
    const one = scripted(two, { onSleep, timeoutMs });
    expect(await failure(run(one.deps))).toMatchObject({ reason: "clock.differs" });
    expect(one.of(name)).toHaveLength(1);
    expect(await run(one.deps)).toEqual(made);
  });

  test("I10: has an unknown outcome if its response has the ID of another one", async () => {
    const one = scripted({
      ...script(data(made), data(made)),
      retrievePayment: [data(rich), data(rich)],
    });
    await run(one.deps, { again: true });
    const second = run(one.deps, { again: true, description: "other" });
    const { reason, message, details } = await failure(second);
    expect([reason, details.hint]).toEqual([
      "record.id-used",
      expect.stringContaining("'lenden ledger resolve OP2 --not-created'"),
    ]);
    expect(message).toContain("belongs to operation OP1");
  });

  test("I10: has an unknown outcome if its response has an ID of another API key", async () => {
    const database = await openDatabase(":memory:");
    const withKey = (keyId: string): OperationDeps => {
      const { deps } = scripted({ ...script(data(made)), retrievePayment: [data(rich)] });
      const ledger = openLedger(
        database,
        worker({ owner: { ...owner, keyId, account: { joins: "shop", proposed: "shop" } } }),
      );
      return { ...deps, ledger: async () => ledger };
    };
    await run(withKey("old"), { again: true });
    const { kind, message } = await failure(run(withKey("new"), { again: true }));
    expect([kind, message]).toEqual([
      "uncertain",
      expect.stringMatching(/belongs to operation OP/),
    ]);
  });

  test("is attempted three times if it is proved not sent", async () => {
    const down = unsent("connection refused");
    const one = scripted(script(down, down, down));
    expect(await failure(run(one.deps))).toMatchObject({ reason: "api.unreachable" });
    expect(one.of(name)).toHaveLength(3);
    const other = scripted(script(down, down, data(made)));
    expect(await run(other.deps)).toEqual(made);
  });

  test.each(["certificate", "stopped"] as const)("is not retried after %s", async (reason) => {
    const one = scripted(script(unsent(reason)));
    expect((await failure(run(one.deps))).kind).toBe("unreachable");
    expect(one.of(name)).toHaveLength(1);
  });

  test("an unknown outcome after an attempt that was not sent is not retried", async () => {
    const one = scripted(script(unsent("connection refused"), unclear("connection lost")));
    expect((await failure(run(one.deps))).kind).toBe("uncertain");
    expect(one.of(name)).toHaveLength(2);
  });

  test("is not retried after the command's time", async () => {
    const one = scripted(script(unsent("connection refused")), { timeoutMs: 300 });
    await failure(run(one.deps));
    expect(one.state.nowMs).toBe(startMs);
  });

  test("P22: does not start after a stop", async () => {
    const one = scripted(script(data(made)));
    one.state.stopping = true;
    expect((await failure(run(one.deps))).kind).toBe("interrupted");
    expect(one.of(name)).toEqual([]);
  });

  test("P22: is not retried after a stop, also not during a pause", async () => {
    const one = scripted(script(unsent("connection refused"), data(made)), {
      onSleep: (state) => {
        state.stopping = true;
      },
    });
    await failure(run(one.deps));
    expect(one.of(name)).toHaveLength(1);
  });

  test.each([1250, 1250.51, 125050, -1250.5, 0, 1250.501])(
    "is a conflict if the response has the amount %f",
    async (amount) => {
      const one = scripted(script(data({ ...made, amount })));
      const { kind, details } = await failure(run(one.deps));
      expect([kind, details.problems?.[0]?.startsWith("amount: requested BDT 1,250.50, ")]).toEqual(
        ["conflict", true],
      );
    },
  );
});

describe("a refund", () => {
  const refunding = (record: Bad | ReturnType<typeof data<typeof paid>>) =>
    scripted({ retrievePayment: [record], createRefund: [data(refundMade)] });
  const refund = ({ deps }: ReturnType<typeof scripted>, amount = "1250.50") =>
    createRefund(paisa(amount), refundInput, { again: false }, deps);

  test.each(["Processing", "Cancelled", "Held", "completed", ""])(
    "is not sent if the payment is %j (3)",
    async (status) => {
      const run = refunding(data({ ...paid, status }));
      const { reason, message } = await failure(refund(run));
      expect([reason, message.includes(status)]).toEqual(["refund.payment-not-completed", true]);
      expect(run.of("createRefund")).toEqual([]);
    },
  );

  test.each(["1250.51", "999999999999.99"])(
    "is not sent if its amount of %s exceeds the payment (3)",
    async (text) => {
      const run = refunding(data(paid));
      const { reason } = await failure(refund(run, text));
      expect(reason).toBe("refund.amount-too-large");
      expect(run.of("createRefund")).toEqual([]);
    },
  );

  test.each([-5, 0.001, 1250.505, 1e12, 1e21])(
    "is not sent if the payment has the invalid amount %f",
    async (amount) => {
      const run = refunding(data({ ...paid, amount }));
      await expect(refund(run)).rejects.toThrow();
      expect(run.of("createRefund")).toEqual([]);
    },
  );

  test("is not sent if the record is of another payment", async () => {
    const run = refunding(data({ ...paid, transactionId: "TX2" }));
    await expect(refund(run, "5")).rejects.toThrow();
    expect(run.of("createRefund")).toEqual([]);
  });

  test.each<[Bad, string]>([
    [refused("unknown id", 404), "not-found"],
    [refused("access", 401), "access"],
    [unclear("connection lost"), "unreachable"],
    [unsent("connection refused"), "unreachable"],
  ])("is not sent if the payment cannot be retrieved (%#)", async (bad, wanted) => {
    const run = refunding(bad);
    const { kind } = await failure(refund(run, "5"));
    expect([kind, run.of("createRefund")]).toEqual([wanted, []]);
  });

  test("is a conflict if its response is about another payment", async () => {
    const run = scripted({
      retrievePayment: [data(paid)],
      createRefund: [data({ ...refundMade, transactionId: "TX2" })],
    });
    const { kind } = await failure(refund(run));
    expect(kind).toBe("conflict");
  });
});
