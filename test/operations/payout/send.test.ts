import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../src/api/response.ts";
import { Failure } from "../../../src/domain/failure.ts";
import { formatTime } from "../../../src/domain/local-time.ts";
import { sendPayout } from "../../../src/operations/payout/send.ts";
import { apiKey, client, payoutSecret } from "../../http/answering.ts";
import { refusal, serve, success } from "../../support/server.ts";
import {
  created,
  data,
  failure,
  order,
  refused,
  retrieved,
  type Script,
  type Scripted,
  scripted,
  startMs,
  unclear,
  unsent,
} from "../scripted.ts";

type Bad = Exclude<Answer, { kind: "data" }>;

const confirmed: Script = { createPayout: [data(created)], retrievePayout: [data(retrieved)] };

/** Bad answers first, then the payout. */
function after(...bad: Bad[]): Script {
  return { createPayout: [...bad, data(created)], retrievePayout: [data(retrieved)] };
}

/** Bad answers, and then the script has no more: a further attempt is an error of its own. */
function only(...bad: Bad[]): Script {
  return { createPayout: bad };
}

const five = (bad: Bad): Bad[] => Array.from({ length: 5 }, () => bad);

function pausesMs({ of }: Scripted): number[] {
  const times = of("createPayout").map(({ atMs }) => atMs);
  return times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
}

test("creates and retrieves a payout once, and reports it as new", async () => {
  const run = scripted(confirmed);
  expect(await sendPayout(order, run.deps)).toEqual({ payout: retrieved, existing: false });
  expect(run.calls.map(({ name }) => name)).toEqual(["createPayout", "retrievePayout"]);
  expect(run.of("createPayout")[0]?.input).toEqual({
    amount: 500,
    merchantRef: "INV-7",
    recipientNumber: "01712345678",
    recipientName: "Rahima",
    description: "November",
    paymentMethodId: "665f1c2ab8e4",
  });
  expect(run.of("retrievePayout")[0]?.input).toEqual({ payoutId: "PO1" });
  expect(run.notices).toEqual([]);
});

test("P9: resends the order of an earlier run unchanged, and reports that", async () => {
  const run = scripted({
    createPayout: [...five(unclear("server error", 500)), data(created)],
    retrievePayout: [data(retrieved)],
  });
  await failure(sendPayout(order, run.deps));
  const { description: _, ...given } = { ...order, recipientName: "Karim" };
  await sendPayout(given, run.deps);
  const bodies = run.of("createPayout").map(({ input }) => JSON.stringify(input));
  expect(new Set(bodies).size).toBe(1);
  expect(run.notices).toContain(
    "Payout INV-7 is retried with the name, description and number of its last request.",
  );
});

test("the history shows of each attempt whether it was sent", async () => {
  const lost = unsent("connection refused");
  const run = scripted(only(unclear("server error", 500), lost, lost, lost, lost));
  expect(await failure(sendPayout(order, run.deps))).toMatchObject({ kind: "uncertain" });
  const ledger = await run.ledger();
  const operation = await ledger.find(order.reference);
  if (!operation) throw new Error("the ledger lost a payout");
  const sent = (await ledger.historyOf(operation)).map(({ data: told }) => Object(told).sent);
  expect(sent).toEqual([undefined, true, false, false, false, false]);
});

describe("P3: the clock", () => {
  const minutes = (count: number) => count * 60_000;

  test.each([minutes(4) + 1, -minutes(4) - 1, minutes(600)])(
    "P3: off by %i ms, nothing is sent, and both clocks are shown",
    async (aheadMs) => {
      const run = scripted({});
      run.state.clockAheadMs = aheadMs;
      const { kind, message, details } = await failure(sendPayout(order, run.deps));
      expect(kind).toBe("access");
      for (const ms of [startMs, startMs + aheadMs])
        expect(message).toContain(formatTime(new Date(ms).toISOString()));
      expect(details.hint).toContain(aheadMs > 0 ? "behind" : "ahead");
      expect(run.calls).toEqual([]);
    },
  );

  test.each([minutes(4), -minutes(4), 0, undefined])(
    "P3: off by %s ms it is sent",
    async (aheadMs) => {
      const run = scripted(confirmed);
      run.state.clockAheadMs = aheadMs;
      await sendPayout(order, run.deps);
      expect(run.of("createPayout")).toHaveLength(1);
    },
  );

  test("P3: a clock that a bad response shows to be wrong stops the attempts, outcome unknown", async () => {
    const run = scripted(after(unclear("server error", 503)), {
      onCall: (_, state) => {
        state.clockAheadMs = minutes(10);
      },
    });
    const { kind, message, details } = await failure(sendPayout(order, run.deps));
    expect(kind).toBe("uncertain");
    expect(`${message} ${details.hint}`).toContain("clock");
    expect(message).toMatch(/[^.]\.$/);
    expect(run.of("createPayout")).toHaveLength(1);
  });
});

describe("P10, P11: proved that nothing was sent", () => {
  test.each([
    "name not found",
    "connection refused",
    "tls",
    "connect timeout",
    "connection lost",
  ] as const)(
    "P10: %s is retried with pauses, five times in all, and then nothing was sent",
    async (reason) => {
      const run = scripted(only(...five(unsent(reason))));
      expect(await failure(sendPayout(order, run.deps))).toMatchObject({
        reason: "api.unreachable",
      });
      expect(run.of("createPayout")).toHaveLength(5);
      expect(Math.min(...pausesMs(run))).toBeGreaterThanOrEqual(500);
    },
  );

  test("P10: a connection that comes back is used", async () => {
    const run = scripted(after(unsent("connection refused"), unsent("name not found")));
    expect((await sendPayout(order, run.deps)).payout.payoutId).toBe("PO1");
  });

  test("P11: an invalid certificate is never retried", async () => {
    const run = scripted(only(unsent("certificate")));
    expect(await failure(sendPayout(order, run.deps))).toMatchObject({
      reason: "api.unreachable",
      details: { hint: expect.stringContaining("'lenden doctor'") },
    });
    expect(run.of("createPayout")).toHaveLength(1);
  });

  test("P10: an attempt that was not sent proves nothing about an earlier one of unknown outcome", async () => {
    const run = scripted(
      only(unclear("connection lost"), ...five(unsent("connection refused")).slice(1)),
    );
    expect((await failure(sendPayout(order, run.deps))).kind).toBe("uncertain");
    expect(run.of("createPayout")).toHaveLength(5);
  });
});

describe("P12, P13: unknown outcomes", () => {
  test.each<[string, Bad]>([
    ["a reset", unclear("connection lost")],
    ["a timeout", unclear("no response in time")],
    ["a 500", unclear("server error", 500)],
    ["a 504", unclear("server error", 504)],
    ["a redirect", unclear("redirect", 307)],
    ["a 408", unclear("unexpected status", 408)],
    ["no HTTP", unclear("response not HTTP")],
  ])("P12: %s is sent again, at most five times, then it is uncertain", async (_, bad) => {
    const run = scripted(only(...five(bad)));
    const { reason, details } = await failure(sendPayout(order, run.deps));
    expect([reason, details.operation]).toEqual(["payout.outcome-unknown", "INV-7"]);
    expect(details.hint).toContain("ledger resolve INV-7");
    expect(run.of("createPayout")).toHaveLength(5);
    expect(run.of("retrievePayout")).toEqual([]);
  });

  test("P12: what keeps the second attempt from leaving says nothing about the first", async () => {
    const run = scripted(only(unclear("connection lost")), {
      onCall: () => {
        if (run.calls.length > 1)
          throw new Failure("account.no-secret", "There is no secret any longer.");
      },
    });
    const { kind, message } = await failure(sendPayout(order, run.deps));
    expect({ kind, message }).toEqual({
      kind: "uncertain",
      message: expect.stringMatching(/connection was lost.*There is no secret any longer/),
    });
    expect(await (await run.deps.ledger()).unsettled()).toMatchObject([{ state: "UNCERTAIN" }]);
  });

  test("P12: over the wire, each attempt has its own timestamp and a signature of its own", async () => {
    const server = await serve(({ method, times }) => {
      if (method === "GET") return success(retrieved);
      return times < 4 ? refusal(503) : success(created);
    });
    const run = scripted({});
    const real = client(server.baseUrl, { now: run.deps.now });
    await sendPayout(order, { ...run.deps, client: real });
    const sent = server.asked
      .filter(({ method }) => method === "POST")
      .map(({ headers, body }) => ({ headers, body: JSON.parse(body) as Record<string, unknown> }));
    expect(new Set(sent.map(({ body }) => body.timestamp)).size).toBeGreaterThan(2);
    for (const { headers, body } of sent) {
      const text = `500:INV-7:${body.timestamp}`;
      expect(headers["x-payout-signature"]).toBe(
        createHmac("sha256", payoutSecret).update(text).digest("hex"),
      );
      expect(headers["x-api-key"]).toBe(apiKey);
    }
    const rest = sent.map(({ body: { timestamp: _, ...others } }) => JSON.stringify(others));
    expect([rest.length, new Set(rest).size]).toEqual([4, 1]);
  });

  test("P12: after a timeout, at least ten seconds pass, whatever the jitter", async () => {
    for (const random of [0, 0.5, 0.999]) {
      const run = scripted(only(...five(unclear("no response in time"))), { random });
      await failure(sendPayout(order, run.deps));
      expect(Math.min(...pausesMs(run))).toBeGreaterThanOrEqual(10_000);
    }
  });

  test("P12: no attempt begins after the command's time", async () => {
    const run = scripted(only(...five(unclear("connection lost"))), { timeoutMs: 1_501 });
    expect((await failure(sendPayout(order, run.deps))).kind).toBe("uncertain");
    expect(run.of("createPayout").map(({ atMs }) => atMs - startMs)).toEqual([0, 500, 1_500]);
  });

  test.each([
    [26 * 3_600_000, Number.POSITIVE_INFINITY, /unknown since .*for over 24 hours/],
    [120_000, 60_000, /the connection was lost/],
  ])(
    "P12, P25: a machine that sleeps %i ms in a pause sends nothing when it wakes",
    async (sleptMs, timeoutMs, says) => {
      const onSleep = (state: Scripted["state"]) => {
        state.nowMs += sleptMs;
      };
      const run = scripted(after(unclear("connection lost")), { timeoutMs, onSleep });
      const { kind, message } = await failure(sendPayout(order, run.deps));
      expect([kind, message]).toEqual(["uncertain", expect.stringMatching(says)]);
      expect(run.of("createPayout")).toHaveLength(1);
    },
  );

  test("P13: a payout of this run that is already Completed is not reported as existing", async () => {
    const done = { ...created, status: "Completed" };
    const run = scripted({
      createPayout: [unclear("no response in time"), data(done)],
      retrievePayout: [data({ ...retrieved, status: "Completed" })],
    });
    expect((await sendPayout(order, run.deps)).existing).toBe(false);
  });

  test.each<[string, Bad]>([
    ["a 400", refused("refused", 400)],
    ["a 200 that says no", refused("refused", 200)],
    ["a 401", refused("access", 401)],
    ["a 404", refused("unknown id", 404)],
  ])("P12, P17: %s after an unknown outcome proves nothing", async (_, no) => {
    const run = scripted(only(unclear("connection lost"), no));
    const { kind, message, details } = await failure(sendPayout(order, run.deps));
    expect([kind, message]).toEqual(["uncertain", expect.stringContaining("the service says no")]);
    expect(details.hint).toContain("'lenden ledger resolve INV-7");
    expect(run.of("createPayout")).toHaveLength(2);
  });
});

describe("P14: an unreadable response", () => {
  test.each([
    "not JSON",
    "empty",
    "wrong shape",
    "response ended early",
    "response too large",
  ] as const)("P14: a 200 that is %s is asked for once more, after a pause", async (why) => {
    const again = scripted(after(unclear(why, 200)));
    expect((await sendPayout(order, again.deps)).payout.payoutId).toBe("PO1");
    const run = scripted(only(unclear(why, 200), unclear(why, 200)));
    expect((await failure(sendPayout(order, run.deps))).kind).toBe("uncertain");
    expect(pausesMs(run)).toEqual([500]);
  });

  test("P14: is retried once more, also after another failed attempt", async () => {
    const run = scripted(after(unclear("server error", 503), unclear("not JSON", 200)));
    expect((await sendPayout(order, run.deps)).payout.payoutId).toBe("PO1");
  });
});

describe("P15, P16: another payout", () => {
  test.each<[string, object, string]>([
    ["amount", { amount: 501 }, "amount: requested BDT 500.00, the API has BDT 501.00"],
    [
      "a part of a paisa",
      { amount: 500.001 },
      "amount: requested BDT 500.00, the API has BDT 500.001",
    ],
    ["a negative amount", { amount: -500 }, "amount: requested BDT 500.00, the API has BDT -500"],
  ])(
    "P15: another one in the answer (%s) is a conflict, ours beside theirs",
    async (_, theirs, line) => {
      const run = scripted({ createPayout: [data({ ...created, ...theirs })] });
      const { kind, details } = await failure(sendPayout(order, run.deps));
      expect([kind, details.problems]).toEqual(["conflict", [line]]);
      expect(run.calls).toHaveLength(1);
    },
  );

  test.each<[string, object, string]>([
    [
      "recipient",
      { recipientNumber: "01812345678" },
      "recipient: requested 01712345678, the API has 01812345678",
    ],
    ["amount", { amount: 50 }, "amount: requested BDT 500.00, the API has BDT 50.00"],
  ])(
    "P16: another one in the record (%s) is a conflict, ours beside theirs",
    async (_, theirs, line) => {
      const run = scripted({ ...confirmed, retrievePayout: [data({ ...retrieved, ...theirs })] });
      const { kind, details } = await failure(sendPayout(order, run.deps));
      expect([kind, details.problems]).toEqual(["conflict", [line]]);
    },
  );

  test.each(["", "hidden", "********678"])(
    "P16: a record whose recipient (%j) cannot be compared leaves the outcome unknown",
    async (recipientNumber) => {
      const record = data({ ...retrieved, recipientNumber });
      const run = scripted({ ...confirmed, retrievePayout: [record] });
      expect((await failure(sendPayout(order, run.deps))).kind).toBe("uncertain");
    },
  );

  test("P15b: a record of another reference is retrieved again", async () => {
    const mixedUp = data({ ...retrieved, merchantRef: "X" });
    const run = scripted({ ...confirmed, retrievePayout: [mixedUp, data(retrieved)] });
    expect((await sendPayout(order, run.deps)).payout).toEqual(retrieved);
  });

  test("P15: reports a conflict also after an attempt of unknown outcome", async () => {
    const run = scripted({
      createPayout: [unclear("connection lost"), data({ ...created, amount: 501 })],
    });
    expect((await failure(sendPayout(order, run.deps))).kind).toBe("conflict");
  });

  test.each<[string, Bad]>([
    ["not there", refused("unknown id", 404)],
    ["refused", refused("access", 401)],
    ["lost", unclear("connection lost")],
    ["not reachable", unsent("connection refused")],
  ])("P16: a record that cannot be compared (%s) is uncertain, with its id", async (_, bad) => {
    const run = scripted({ ...confirmed, retrievePayout: [bad] });
    const { kind, message } = await failure(sendPayout(order, run.deps));
    expect([kind, message.includes("PO1")]).toEqual(["uncertain", true]);
  });

  test.each(["", ".", "..", "\ud800"])(
    "P14: the id %j, which nothing can be retrieved by, is uncertain and no fault of ours",
    async (payoutId) => {
      const server = await serve(() => success({ ...created, payoutId }));
      const { deps } = scripted({});
      const real = client(server.baseUrl, { now: deps.now });
      const { kind } = await failure(sendPayout(order, { ...deps, client: real }));
      expect(kind).toBe("uncertain");
    },
  );
});

describe("P17 to P20: rejections", () => {
  test.each([
    [refused("refused", 400), "refused"],
    [refused("refused", 422), "refused"],
    [refused("refused", 200), "refused"],
    [refused("unknown id", 404), "refused"],
  ] as const)("P17: a refusal is final (%#)", async (no, wanted) => {
    const run = scripted(only(no));
    const { kind, message, details } = await failure(sendPayout(order, run.deps));
    expect([kind, details.code, details.status]).toEqual([wanted, "NO", no.status]);
    expect(message).toContain("the service says no");
    expect(run.of("createPayout")).toHaveLength(1);
  });

  test.each([401, 403])(
    "P18: %i names key, secret and IP address, and is final",
    async (status) => {
      const run = scripted(only(refused("access", status)));
      const { kind, details } = await failure(sendPayout(order, run.deps));
      expect(kind).toBe("access");
      expect(details.hint).toMatch(/^(?=.*API key)(?=.*payout secret).*IP address/);
      expect(run.of("createPayout")).toHaveLength(1);
    },
  );

  test.each([401, 403])(
    "P18: a page that says %i is not the API's own response: the outcome stays unknown, and the payout is sent once",
    async (status) => {
      const run = scripted(only({ ...refused("access", status), isJson: false }));
      const { kind, message, details } = await failure(sendPayout(order, run.deps));
      expect([kind, details.status]).toEqual(["uncertain", status]);
      expect(message).toContain(`the response is a web page (HTTP ${status})`);
      expect(details.hint).toMatch(
        /^(?=.*API key)(?=.*payout secret).*IP address.*ledger resolve INV-7/,
      );
      expect(run.of("createPayout")).toHaveLength(1);
    },
  );

  test("P6, P17: after a rejection the hint names the next reference for the corrected payout", async () => {
    const run = scripted(only(refused("refused", 400)));
    await failure(sendPayout(order, run.deps));
    const corrected = await failure(sendPayout({ ...order, amountPaisa: 1n }, run.deps));
    expect([corrected.kind, corrected.details.hint]).toEqual([
      "conflict",
      expect.stringMatching(/use --ref INV-7-lenden2\.$/),
    ]);
    const same = await failure(sendPayout(order, run.deps));
    expect([same.kind, same.details.hint]).toEqual([
      "refused",
      expect.stringContaining("--ref INV-7-lenden2"),
    ]);
    expect(run.of("createPayout")).toHaveLength(1);
  });

  test("P18: names a wrong clock first if the rejection shows it", async () => {
    const run = scripted(only(refused("access", 403)), {
      onCall: (_, state) => {
        state.clockAheadMs = -285_000;
      },
    });
    const { kind, details } = await failure(sendPayout(order, run.deps));
    expect([kind, details.hint?.includes("4 min 45 s ahead")]).toEqual(["access", true]);
  });

  test.each([
    ["P19", refused("clash", 409)],
    ["P19", refused("busy", 423)],
    ["P19", refused("busy", 425)],
    ["P20", refused("busy", 429)],
  ] as const)(
    "%s: %j waits for the same reference, and is uncertain if unresolved",
    async (_, wait) => {
      const run = scripted(only(...five(wait)));
      expect((await failure(sendPayout(order, run.deps))).kind).toBe("uncertain");
      expect(Math.min(...pausesMs(run))).toBeGreaterThanOrEqual(500);
      const again = scripted(after(wait, wait));
      expect((await sendPayout(order, again.deps)).existing).toBe(false);
    },
  );

  test("P20: Retry-After beyond the command's time ends it at once", async () => {
    const run = scripted(only(refused("busy", 429, 30_000)), { timeoutMs: 20_000 });
    await failure(sendPayout(order, run.deps));
    expect(run.state.nowMs).toBe(startMs);
  });
});

describe("P22: being stopped", () => {
  test("I3: runs that are too short to send do not make the reference rest for longer", async () => {
    const run = scripted(after(...five(unclear("no response in time"))));
    await failure(sendPayout(order, run.deps));
    const endedMs = run.state.nowMs;
    const shortRun = () => {
      const deadlineMs = run.state.nowMs + 3_000;
      let isOver = false;
      const sleep = async (ms: number) => {
        isOver = run.state.nowMs + ms >= deadlineMs;
        run.state.nowMs = Math.min(run.state.nowMs + ms, deadlineMs);
      };
      return sendPayout(order, { ...run.deps, deadlineMs, sleep, isStopping: () => isOver });
    };
    for (let count = 1; count <= 3; count += 1)
      expect((await failure(shortRun())).kind).toBe("uncertain");
    expect(await shortRun()).toMatchObject({ payout: { payoutId: "PO1" } });
    expect((run.of("createPayout").at(-1)?.atMs ?? 0) - endedMs).toBe(10_000);
  });

  test("P22: before the first attempt, nothing is sent", async () => {
    const run = scripted(confirmed);
    run.state.stopping = true;
    const { kind } = await failure(sendPayout(order, run.deps));
    expect([kind, run.of("createPayout").length]).toEqual(["interrupted", 0]);
  });

  test("P22: finishes and compares the request in flight", async () => {
    const run = scripted(confirmed, {
      onCall: (_, state) => {
        state.stopping = true;
      },
    });
    expect((await sendPayout(order, run.deps)).payout).toEqual(retrieved);
  });

  test.each<[Bad, string]>([
    [unclear("connection lost"), "uncertain"],
    [unsent("connection refused"), "nothing sent"],
  ])("P22: no further attempt begins, also not in the pause (%#)", async (bad, wanted) => {
    for (const when of ["onCall", "onSleep"] as const) {
      const stop = (...[one, other]: [unknown, unknown?]) => {
        const state = (other ?? one) as Scripted["state"];
        state.stopping = true;
      };
      const run = scripted(only(bad), { [when]: stop });
      const { kind } = await failure(sendPayout(order, run.deps));
      const isUnsent = kind === "unreachable" || kind === "interrupted";
      expect(isUnsent ? "nothing sent" : kind).toBe(wanted);
      expect(run.of("createPayout")).toHaveLength(1);
    }
  });

  test.each<[Bad, string]>([
    [unclear("stopped"), "uncertain"],
    [unsent("stopped"), "unreachable"],
  ])("P22: an attempt that was cut off is the last (%#)", async (bad, wanted) => {
    const run = scripted(only(bad));
    expect((await failure(sendPayout(order, run.deps))).kind).toBe(wanted);
  });
});

describe("existing", () => {
  const at = (ms: number) => new Date(startMs + ms).toISOString();

  test.each<[string, object, number | undefined, boolean]>([
    ["made just now", { createdAt: at(5) }, 0, false],
    ["made an hour ago", { createdAt: at(-3_600_000) }, 0, true],
    ["made an hour ago, no clock known", { createdAt: at(-3_600_000) }, undefined, true],
    ["made before, Completed since", { createdAt: at(-3_600_000), status: "Completed" }, 0, true],
    ["Cancelled", { createdAt: at(-60_000), status: "Cancelled" }, 0, true],
    ["made now by a clock two minutes ahead", { createdAt: at(120_005) }, 120_000, false],
    ["made now by a clock two minutes behind", { createdAt: at(-119_995) }, -120_000, false],
    ["made an hour ago by a clock two minutes ahead", { createdAt: at(-3_480_000) }, 120_000, true],
    ["made now by a clock a second behind", { createdAt: at(-950) }, -1_000, false],
    ["made now, told in whole seconds", { createdAt: at(-400) }, -400, false],
    ["made now by a service that counts minutes", { createdAt: at(-59_000) }, 0, false],
    ["no time told", { createdAt: undefined }, 0, false],
  ])("%s", async (_, changes, clockAheadMs, existing) => {
    const run = scripted({ ...confirmed, createPayout: [data({ ...created, ...changes })] });
    run.state.clockAheadMs = clockAheadMs;
    expect((await sendPayout(order, run.deps)).existing).toBe(existing);
  });

  test("uses the creation time of the record if the response has none", async () => {
    const { createdAt: _, ...untold } = created;
    const run = scripted({
      createPayout: [data(untold)],
      retrievePayout: [data({ ...retrieved, createdAt: at(-3_600_000) })],
    });
    expect((await sendPayout(order, run.deps)).existing).toBe(true);
  });
});
