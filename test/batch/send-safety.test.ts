import { expect, test } from "vitest";
import { exportedRows, retryRows } from "../../src/batches/export.ts";
import { noRetries } from "../../src/batches/retries.ts";
import { orderOfRow } from "../../src/batches/send.ts";
import { readStatus } from "../../src/batches/status.ts";
import { Failure } from "../../src/domain/failure.ts";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import { sealer } from "../ledger/small-ledger.ts";
import { created, data, refused, startMs, unclear } from "../operations/scripted.ts";
import { collect } from "../support/helpers.ts";
import { type Timed, timed } from "./timed.ts";

const seconds = ({ atMs }: { atMs: number }) => Math.floor(atMs / 1_000);

test("P20: after a 429, sends nothing during its pause, then one row at a time, until all are sent", async () => {
  let busy = 6;
  const place = await timed(40, () => {
    busy -= 1;
    return busy >= 0 ? refused("busy", 429, 5_000) : undefined;
  });
  expect(await place.send(6)).toBeUndefined();
  expect(await place.ledger.batches.tally(place.batch)).toMatchObject([
    { state: "CONFIRMED", count: 40 },
  ]);
  const after = place.asked.slice(6, 16).map(({ atMs }) => atMs);
  expect(after[0]).toBeGreaterThanOrEqual(5_000);
  for (const [index, atMs] of after.entries())
    if (index > 0) expect(atMs - (after[index - 1] ?? 0)).toBeGreaterThanOrEqual(20);
  expect(new Set(place.asked.map(({ reference }) => reference)).size).toBe(40);
});

test.each([86_400_000, 60_000, 3_000_000_000])(
  "P20: caps a Retry-After of %i ms at a minute, and the row stays certain",
  async (retryAfterMs) => {
    const place = await timed(20, (_, count) =>
      count <= 4 ? refused("busy", 429, retryAfterMs) : undefined,
    );
    expect(await place.send(4)).toBeUndefined();
    expect(await place.ledger.batches.tally(place.batch)).toMatchObject([{ count: 20 }]);
    const firstAfterMs = place.asked[4]?.atMs ?? 0;
    expect([firstAfterMs >= 60_000, firstAfterMs < 70_000]).toEqual([true, true]);
  },
);

test("P20: rows that wait for --rate also wait for a Retry-After that arrives meanwhile", async () => {
  const place = await timed(12, (_, count) =>
    count === 2 ? refused("busy", 429, 30_000) : undefined,
  );
  expect(await place.send(8, 1)).toBeUndefined();
  const [, second = 0, ...others] = place.asked.map(({ atMs }) => atMs);
  expect(Math.min(...others)).toBeGreaterThanOrEqual(second + 30_000);
  const gaps = others.slice(1).map((atMs, index) => atMs - (others[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(999);
});

test("P25: an unknown row that waits for its slot is not sent when the machine wakes after days", async () => {
  let sleeps = () => {};
  const place = await timed(3, ({ reference }, count) => {
    if (count === 1) return refused("busy", 429, 1_000);
    if (reference === "R-3") sleeps();
    return undefined;
  });
  // While R-3 is in flight, R-1 has paused and waits for its slot.
  sleeps = () => {
    void place.deps.sleep(10).then(() => {
      place.state.nowMs += 26 * 3_600_000;
    });
  };
  expect(await place.send(2)).toMatchObject({ reason: "batch.clock-differs" });
  expect(place.asked.map(({ reference }) => reference)).toEqual(["R-1", "R-2", "R-3"]);
  expect(place.ends).toContain("uncertain");
  const [row, ...others] = await collect(place.ledger.batches.rows(place.batch, "unknown"));
  expect([row?.reference, row?.message, others]).toEqual([
    "R-1",
    expect.stringMatching(/^Cannot retry payout R-1 automatically: .*for over 24 hours\.$/),
    [],
  ]);
});

test("P25: an unknown row that waits for its slot is not sent once a day has passed", async () => {
  let [tries, isNext] = [0, false];
  let passes = () => {};
  const place = await timed(200, ({ reference }) => {
    if (isNext) passes();
    isNext = reference === "R-1";
    if (reference !== "R-1") return undefined;
    tries += 1;
    return refused("busy", 429, 1_000);
  });
  const { ledger, batch, state } = place;
  const [row] = await collect(ledger.batches.rows(batch, "all"));
  if (!row) throw new Error("there is no row");
  const intent = payoutIntent(orderOfRow(row), batch.number);
  const claim = await ledger.claim({ intent, onDuplicate: "reject", sealer, batchId: batch.id });
  if (claim.kind !== "new") throw new Error(claim.kind);
  const outcome = { state: "UNCERTAIN", sent: true } as const;
  await ledger.record({ operation: claim.operation.number, outcome, release: true });
  const minuteMs = 60_000;
  state.nowMs += (24 * 60 - 10) * minuteMs;
  // While the next row is in flight, R-1 has paused and waits for its slot.
  passes = () => {
    void place.deps.sleep(10).then(() => {
      state.nowMs += 20 * minuteMs;
    });
  };
  expect(await place.send(2, 10)).toBeUndefined();
  expect(tries).toBe(1);
  expect(place.ends).toContain("uncertain");
});

test("P3, P25: a batch stops when the machine wakes after days, and the next run sends the rest", async () => {
  const place = await timed(40, ({ reference }) => {
    if (reference === "R-1") place.state.nowMs += 26 * 3_600_000;
    return undefined;
  });
  expect(await place.send(32)).toMatchObject({ reason: "batch.clock-differs" });
  expect(place.asked.length).toBeLessThan(40);
  expect(await place.send(32)).toBeUndefined();
  expect(await countsOf(place)).toEqual({ CONFIRMED: 40 });
  expect(place.asked).toHaveLength(40);
});

test("--rate limits the attempts of all rows in every second", async () => {
  const place = await timed(60, (_, count) =>
    count % 5 === 0 ? unclear("server error", 503) : undefined,
  );
  expect(await place.send(16, 10)).toBeUndefined();
  const counts = new Map<number, number>();
  for (const one of place.asked) counts.set(seconds(one), (counts.get(seconds(one)) ?? 0) + 1);
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(11);
  expect(place.asked.length).toBeGreaterThan(70);
  expect(await place.ledger.batches.tally(place.batch)).toMatchObject([{ state: "CONFIRMED" }]);
});

test("a row that waits long for its slot still gets its attempts", async () => {
  const place = await timed(300, ({ atMs }) =>
    atMs > 100_000 && atMs < 100_600 ? unclear("server error", 503) : undefined,
  );
  expect(await place.send(64, 2)).toBeUndefined();
  expect(await place.ledger.batches.tally(place.batch)).toMatchObject([
    { state: "CONFIRMED", count: 300 },
  ]);
});

test("P9, I3: rows that a dead process left in flight rest for ten seconds together", async () => {
  const place = await timed(40, () => undefined);
  const { ledger, deps, state } = place;
  for (const planned of (await collect(ledger.batches.rows(place.batch, "all"))).slice(0, 30)) {
    const intent = { ...payoutIntent(orderOfRow(planned)), batch: place.batch.number };
    await ledger.claim({ intent, onDuplicate: "send", sealer });
  }
  state.nowMs += 5_000;
  expect(deps.now()).toBe(state.nowMs);
  expect(await place.send(2)).toBeUndefined();
  const [first, ...others] = place.asked.map(({ atMs }) => atMs);
  expect(first).toBeGreaterThanOrEqual(15_000);
  expect(Math.max(...others)).toBeLessThan(18_000);
  expect(place.asked.slice(0, 30).map(({ reference }) => reference)).toContain("R-30");
});

test("P22: sends nothing after a stop, not even a retry, and does not blame the API", async () => {
  const place = await timed(50, (_, count) => {
    place.state.stopping = count >= 8;
    return unclear("server error", 503);
  });
  expect(await place.send(4)).toBeUndefined();
  expect(place.asked.length).toBeLessThanOrEqual(11);
});

test("P22: no row is claimed after a stop", async () => {
  const place = await timed(100, (_, count) => {
    place.state.stopping = count === 8;
    return undefined;
  });
  expect(await place.send(4)).toBeUndefined();
  expect([place.asked.length, await countsOf(place)]).toEqual([8, { CONFIRMED: 8, null: 92 }]);
});

test("P22: records a row that waits for its slot at a stop as not sent, and the next run sends it", async () => {
  const place = await timed(40, (_, count) => {
    place.state.stopping = count === 2;
    return undefined;
  });
  expect(await place.send(4, 1)).toBeUndefined();
  expect(await countsOf(place)).toEqual({ CONFIRMED: 2, NOT_SENT: 4, null: 34 });
  expect(await whyNotSent(place)).toEqual(["The command was stopped."]);
  place.state.stopping = false;
  expect(await place.send(4)).toBeUndefined();
  expect(new Set(place.asked.map(({ reference }) => reference)).size).toBe(40);
  expect(place.asked.length).toBe(40);
});

test("records why a row that waits for its slot is not sent: a rule of the batch, or the deadline", async () => {
  const denied = await timed(40, (_, count) => (count === 2 ? refused("access", 401) : undefined));
  expect(await denied.send(4, 1)).toMatchObject({ kind: "access" });
  const late = await timed(40, (_, count) => {
    late.state.stopping = count === 2;
    return undefined;
  });
  late.deps.isOutOfTime = () => late.state.stopping;
  expect(await late.send(4, 1)).toBeUndefined();
  expect([await whyNotSent(denied), await whyNotSent(late)]).toEqual([
    ["The batch stopped before this row."],
    ["The time limit (--timeout) elapsed."],
  ]);
});

/** The messages of the rows that were not sent, each once. */
async function whyNotSent({ ledger, batch }: Timed): Promise<(string | null)[]> {
  const rows = await collect(ledger.batches.rows(batch, "unsent"));
  return [
    ...new Set(rows.flatMap(({ code, message }) => (code === "unreachable" ? [message] : []))),
  ];
}

test.each([
  [-1, 500, ["CONFLICT", 1]],
  [0, 500, ["CONFIRMED", 0]],
  // To the service's clock, which was a second ahead when the highest answer told it.
  [900, 1_500, ["CONFLICT", 1]],
  [1_000, 1_500, ["CONFIRMED", 0]],
] as const)(
  "P16: retrieves a payout created %i ms after its row started if it may be older (clocks %#)",
  async (afterMs, clocksMs, wanted) => {
    const place = await timed(1, () => {
      const createdAt = new Date(place.state.nowMs + afterMs).toISOString();
      return data({ ...created, merchantRef: "R-1", amount: 1, createdAt });
    });
    const { client } = place.deps;
    let looks = 0;
    const retrievePayout: typeof client.retrievePayout = async () => {
      looks += 1;
      return data({ ...created, merchantRef: "R-1", amount: 1, recipientNumber: "01812345678" });
    };
    place.deps.client = { ...client, retrievePayout };
    place.state.nowMs += 500;
    place.state.clockAheadMs = clocksMs - 500;
    await place.send(1);
    expect([...Object.keys(await countsOf(place)), looks]).toEqual(wanted);
  },
);

test.each([
  ["20/11/2026 10:15 AM", "CONFLICT"],
  ["yesterday", "CONFLICT"],
  [new Date(startMs + 6 * 3_600_000).toISOString(), "CONFLICT"],
  [new Date(startMs + 4_000).toISOString(), "CONFIRMED"],
])("P16: compares a payout created at %j with its record: %s", async (createdAt, state) => {
  const place = await timed(1, () =>
    data({ ...created, merchantRef: "R-1", amount: 1, createdAt }),
  );
  const theirs = { ...created, merchantRef: "R-1", amount: 1, recipientNumber: "01812345678" };
  place.deps.client = { ...place.deps.client, retrievePayout: async () => data(theirs) };
  await place.send(1);
  expect(await countsOf(place)).toEqual({ [state]: 1 });
});

test("P16: reports payouts that the API already had as existing", async () => {
  const place = await timed(3, ({ reference }) => {
    const createdAt = new Date(startMs - 86_400_000).toISOString();
    const old = { ...created, merchantRef: "R-2", amount: 2, createdAt };
    return reference === "R-2" ? data(old) : undefined;
  });
  const record = { ...created, merchantRef: "R-2", amount: 2, recipientNumber: "01712345678" };
  place.deps.client = { ...place.deps.client, retrievePayout: async () => data(record) };
  await place.send(1);
  expect(place.ends).toEqual(["accepted", "existing", "accepted"]);
  const messages = (await collect(place.ledger.batches.rows(place.batch, "all"))).map(
    ({ message }) => message,
  );
  expect(messages).toEqual([null, expect.stringContaining("the API had it before, since"), null]);
  const { ledger, batch } = place;
  const { sentBefore } = await readStatus(batch, ledger);
  expect(sentBefore).toEqual({ count: 1, sumPaisa: 200n });
  const [found] = await collect(exportedRows(batch, undefined, ledger));
  expect(found?.map(({ existing }) => existing)).toEqual(["no", "yes", "no"]);
});

test("P16: does not adopt a payout that another client created while the row waited", async () => {
  const place = await timed(4, ({ reference }) => {
    const createdAt = new Date(startMs + 1_500).toISOString();
    return reference === "R-4"
      ? data({ ...created, merchantRef: "R-4", amount: 4, createdAt })
      : undefined;
  });
  const theirs = { ...created, merchantRef: "R-4", amount: 4, recipientNumber: "01812345678" };
  place.deps.client = { ...place.deps.client, retrievePayout: async () => data(theirs) };
  expect(await place.send(4, 1)).toMatchObject({ kind: "conflict" });
  expect(place.asked.at(-1)).toEqual({ reference: "R-4", atMs: 3_000 });
  expect(await countsOf(place)).toEqual({ CONFIRMED: 3, CONFLICT: 1 });
});

test("P16: reports a conflict if another client used the reference of an unknown row meanwhile", async () => {
  let takenAt = "";
  const place = await timed(3, ({ reference }) => {
    if (reference !== "R-2") return undefined;
    if (takenAt === "") return unclear("connection lost");
    return data({ ...created, merchantRef: "R-2", amount: 2, createdAt: takenAt });
  });
  await place.send(1);
  expect(await countsOf(place)).toEqual({ CONFIRMED: 2, UNCERTAIN: 1 });
  takenAt = new Date(place.state.nowMs + 60_000).toISOString();
  place.state.nowMs += 3_600_000;
  const theirs = { ...created, merchantRef: "R-2", amount: 2, recipientNumber: "01812345678" };
  place.deps.client = { ...place.deps.client, retrievePayout: async () => data(theirs) };
  expect(await place.send(1)).toMatchObject({ kind: "conflict" });
  expect(await countsOf(place)).toEqual({ CONFIRMED: 2, CONFLICT: 1 });
});

test.each([undefined, 2])(
  "P9: no more rows than the concurrency and a quarter of it are claimed or unknown at any moment (rate %s)",
  async (perSecond) => {
    const place = await timed(120, (_, count) => {
      if (count % 7 === 0) return refused("busy", 429, 1_000);
      return count % 5 === 0 ? unclear("server error", 503) : undefined;
    });
    const { change } = place.ledger;
    let most = 0;
    place.ledger.change = async (changes) => {
      const answers = await change(changes);
      most = Math.max(most, (await place.ledger.unsettled()).length);
      return answers;
    };
    expect(await place.send(8, perSecond)).toBeUndefined();
    expect([most, await countsOf(place)]).toEqual([10, { CONFIRMED: 120 }]);
  },
);

test("the outcome of an accepted row and the claim of the next row share a commit", async () => {
  const place = await timed(10, () => undefined);
  const { change } = place.ledger;
  const commits: string[] = [];
  place.ledger.change = async (changes) => {
    commits.push(changes.map(({ kind }) => kind).join(" "));
    return change(changes);
  };
  expect(await place.send(1)).toBeUndefined();
  expect(commits).toEqual(["claim", ...Array.from({ length: 9 }, () => "record claim"), "record"]);
});

test("rows are sent in the order of the file, and none twice, over several pages of the plan", async () => {
  const place = await timed(603, () => undefined);
  expect(await place.send(1)).toBeUndefined();
  const all = Array.from({ length: 603 }, (_, index) => `R-${index + 1}`);
  expect(place.asked.map(({ reference }) => reference)).toEqual(all);
});

test("I4: no further row is claimed after the plan cannot be read", async () => {
  const place = await timed(40, () => undefined);
  const { batches } = place.ledger;
  const full = new Error("disk I/O error");
  const rows = batches.rowsAsRead.bind(batches);
  batches.rowsAsRead = async function* (...asked) {
    for await (const row of rows(...asked)) {
      if (row.reference === "R-9") throw full;
      yield row;
    }
  };
  expect(await place.send(4)).toMatchObject({ kind: "internal", details: { cause: full } });
  expect(await countsOf(place)).toEqual({ CONFIRMED: 8, null: 32 });
});

test("P3: stops the batch if the first response shows a wrong clock, and sends no waiting row", async () => {
  const place = await timed(100, () => {
    place.state.clockAheadMs = 7 * 60_000;
    return undefined;
  });
  const reason = await place.send(4, 1);
  expect(reason).toMatchObject({ reason: "batch.clock-differs" });
  expect(place.asked.length).toBe(1);
  expect(await countsOf(place)).toEqual({ UNCERTAIN: 1, NOT_SENT: 4, null: 95 });
});

test("I4: sends nothing after a failed commit, and stops for that reason", async () => {
  const place = await timed(40, () => undefined);
  const { change } = place.ledger;
  let commits = 0;
  place.ledger.change = async (changes) => {
    commits += 1;
    if (commits === 6) throw new Error("disk I/O error");
    return change(changes);
  };
  const reason = await place.send(2);
  expect(reason).toMatchObject({ kind: "internal" });
  const sent = place.asked.length;
  expect([sent > 0, sent < 10, commits]).toEqual([true, true, 6]);
});

test("I4, P21: stops because of the ledger if no outcome can be recorded", async () => {
  const place = await timed(8, () => undefined);
  const { change } = place.ledger;
  const full = new Failure("ledger.not-written", "The ledger could not be written (SQLITE_FULL).");
  place.ledger.change = async (changes) => {
    if (changes.some(({ kind }) => kind === "record")) throw full;
    return change(changes);
  };
  expect(await place.send(8)).toBe(full);
});

test("I1: sends nothing if the commit of its claims fails", async () => {
  const place = await timed(4, () => undefined);
  place.ledger.change = async () => {
    throw new Error("disk I/O error");
  };
  expect(await place.send(4)).toMatchObject({ kind: "internal" });
  expect(place.asked).toEqual([]);
});

test("P15: a conflict stops the batch at once", async () => {
  const place = await timed(40, ({ reference }, count) =>
    count === 3 ? data({ ...created, merchantRef: reference, amount: 99 }) : undefined,
  );
  expect(await place.send(1)).toMatchObject({ kind: "conflict" });
  expect(place.asked.length).toBeLessThanOrEqual(5);
});

test.each([
  ["the same code and message", () => "balance", 10],
  ["another message each time", (count: number) => `row ${count}`, 40],
  [
    "the same message but for one accepted row",
    (count: number) => (count === 9 ? "" : "balance"),
    19,
  ],
  ["two messages in turn", (count: number) => `message ${count % 2}`, 40],
])("P17: a batch stops after ten rejections in a row with %s", async (_, messageOf, most) => {
  const place = await timed(40, (_, count) => {
    const message = messageOf(count);
    return message === "" ? undefined : { ...refused("refused", 422), apiError: { message } };
  });
  const reason = await place.send(1);
  expect([reason?.kind, place.asked.length]).toEqual([most < 40 ? "partial" : undefined, most]);
});

test("P15b: after a response for another reference, a row's record is compared", async () => {
  const place = await timed(2, ({ reference, atMs }, count) => {
    if (reference !== "R-1") return undefined;
    const createdAt = new Date(startMs + atMs + 10).toISOString();
    const merchantRef = count === 1 ? "another" : reference;
    return data({ ...created, merchantRef, amount: 1, createdAt });
  });
  const theirs = { ...created, merchantRef: "R-1", amount: 1, recipientNumber: "01812345678" };
  place.deps.client = { ...place.deps.client, retrievePayout: async () => data(theirs) };
  await place.send(1);
  expect(await countsOf(place)).toEqual({ CONFLICT: 1, null: 1 });
});

test("P18: stops at a page that denies access, and leaves the outcome of its row unknown", async () => {
  const place = await timed(40, () => ({ ...refused("access", 403), isJson: false }));
  const reason = await place.send(1);
  expect(reason).toMatchObject({ kind: "access", details: { status: 403 } });
  expect(reason?.details.hint).toMatch(/(?=.*key).*IP address.*the same command again\.$/);
  expect(place.asked.length).toBeLessThanOrEqual(5);
  expect((await countsOf(place)).UNCERTAIN).toBeGreaterThanOrEqual(place.asked.length);
});

test("P18: exports rows that were denied access with their own references", async () => {
  const place = await timed(3, () => refused("access", 403));
  expect(await place.send(1)).toMatchObject({ kind: "access" });
  const pages = await collect(retryRows(place.batch, place.ledger, noRetries(place.ledger)));
  expect(pages.flat().map(({ ref }) => ref)).toEqual(["R-1", "R-2", "R-3"]);
});

test("P4: a batch is locked from its claim until its release", async () => {
  const place = await timed(1, () => undefined);
  const { batch, ledger } = place;
  expect((await ledger.batches.known({ id: batch.id })).batches[0]?.holder).toMatchObject({
    pid: 1,
  });
  await ledger.batches.release(batch);
  expect((await ledger.batches.known({ id: batch.id })).batches[0]?.holder).toBeNull();
});

/** Counts rows by state; "null" counts those that were not started. */
async function countsOf({ ledger, batch }: Timed): Promise<Record<string, number>> {
  const tally = await ledger.batches.tally(batch);
  return Object.fromEntries(tally.map(({ state, count }) => [state, count]));
}

test.each([1, 4])(
  "I4: a batch stops if the ledger fails before request %i, whatever the kind of that failure",
  async (failing) => {
    const place = await timed(9, (_, count) => {
      if (count === failing) throw new Failure("ledger.in-use", "The ledger is busy.");
      return undefined;
    });
    const { reason, kind, message } = (await place.send(1)) ?? {};
    expect([reason, kind, message]).toEqual([
      "batch.incomplete",
      "unreachable",
      "The ledger is busy.",
    ]);
    expect(place.asked).toHaveLength(failing);
  },
);
