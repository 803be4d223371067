import { describe, expect, test } from "vitest";
import { answering, type Reply } from "../answering.ts";
import { misbehave } from "../http/misbehaving.ts";
import { doctor, envOf } from "./running.ts";

const methods = [{ id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" }];

async function examinedWith(reply: Reply | object) {
  const { baseUrl } = await answering(() => reply);
  return doctor(envOf(baseUrl));
}

describe("the key", () => {
  test("that is accepted passes, and says how many methods there are", async () => {
    const { of, code } = await examinedWith(methods);
    expect(of.access).toMatchObject({
      state: "passed",
      says: expect.stringContaining("1 method is"),
    });
    expect(code).toBe(0);
  });

  test("of an account without a method is a warning, and no failure", async () => {
    const { of, code } = await examinedWith([]);
    expect([of.access?.state, code]).toEqual(["warning", 0]);
  });

  test.each([401, 403])(
    "that is refused (%i) fails, with the whitelist among what to look at",
    async (status) => {
      const { of, code } = await examinedWith({ status, body: '{"message":"no such key"}' });
      expect(of.access).toMatchObject({
        state: "failed",
        says: expect.stringContaining(`(${status}): no such key`),
        todo: expect.stringContaining("whitelist"),
      });
      expect(code).toBe(1);
    },
  );

  test.each<[string, Reply]>([
    ["a server error", { status: 500, body: "{}" }],
    ["a page of something else", { type: "text/html", body: "<title>Welcome</title>" }],
    ["a refusal in a 200", { body: '{"success":false,"message":"not now"}' }],
    ["a redirect", { status: 302, headers: { location: "https://elsewhere.example" }, body: "" }],
  ])("answered with %s fails", async (_, reply) => {
    const { of } = await examinedWith(reply);
    expect(of.access?.state).toBe("failed");
  });

  test("a service that never answers is given up", async () => {
    const silent = await misbehave(() => ({ do: "silence" }));
    const isOver = (ms: number) => ms === 5_000;
    const host = {
      sleep: (ms: number, signal?: AbortSignal) =>
        isOver(ms)
          ? arrived(silent)
          : new Promise<void>((done) => signal?.addEventListener("abort", () => done())),
    };
    const { of, code } = await doctor(envOf(silent.baseUrl), { host });
    expect(of.access?.says).toBe("The service gave no answer in 5 s.");
    expect(of.clock?.state).toBe("skipped");
    expect(code).toBe(1);
  });
});

describe("the clock", () => {
  test.each([
    [0, "passed", "the same as the service's"],
    [50, "passed", "50 s behind"],
    [62, "warning", "62 s behind"],
    [-62, "warning", "62 s ahead of"],
    [239, "warning", "behind"],
    [242, "failed", "behind"],
    [-242, "failed", "ahead of"],
  ])("with the service's %d s ahead has %s", async (aheadSeconds, state, says) => {
    const nowMs = Date.parse("2026-11-20T12:00:00Z");
    const date = new Date(nowMs + aheadSeconds * 1_000).toUTCString();
    const body = JSON.stringify({ success: true, data: methods });
    const { baseUrl } = await answering(() => ({ headers: { date }, body }));
    const { of } = await doctor(envOf(baseUrl), { host: { now: () => nowMs } });
    expect(of.clock).toMatchObject({ state, says: expect.stringContaining(says) });
  });

  test("of an answer without a Date is skipped", async () => {
    const body = JSON.stringify({ success: true, data: methods });
    const bytes = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const service = await misbehave(() => ({ do: "send", bytes, ending: "stay" }));
    const { of } = await doctor(envOf(service.baseUrl));
    expect([of.access?.state, of.clock?.state]).toEqual(["passed", "skipped"]);
  });
});

/** Once it has been asked something. */
async function arrived({ count }: { count(): number }): Promise<void> {
  while (count() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
