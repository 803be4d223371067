import { expect, test } from "vitest";
import { createPerson } from "../../src/mcp/person.ts";
import type { ServerContext } from "../../src/mcp/sdk.ts";

const question = {
  ...{ id: "B1", digest: "d1", total: "500" },
  ...{ text: "Send plan B1.", command: "lenden x" },
};

/** What a client sends with a call; `send` is its answer to a question of the server. */
function request(parts: object): ServerContext {
  const unused = () => {
    throw new Error("not expected");
  };
  return {
    mcpReq: {
      ...{ id: 1, method: "tools/call", signal: new AbortController().signal },
      ...{ requestState: () => undefined, notify: unused, log: unused },
      ...{ elicitInput: unused, requestSampling: unused, send: unused },
      ...parts,
    },
  };
}

function person(era: "legacy" | "modern") {
  const clock = { ms: 0 };
  const stopping = new AbortController().signal;
  return { clock, ...createPerson(era, { monotonicMs: () => clock.ms, stopping }) };
}

const typed = (total: unknown) => ({
  inputResponses: { total: { action: "accept", content: { total } } },
});

test("a legacy client that never answers is waited for 50 seconds", async () => {
  const asked: unknown[] = [];
  const send = async (_: unknown, options: unknown) => {
    asked.push(options);
    throw new Error("Request timed out");
  };
  const { confirm } = person("legacy");
  expect(await confirm(question, request({ send }))).toEqual({
    ...{ kind: "unconfirmed", why: "unanswered" },
  });
  expect(asked).toMatchObject([{ timeout: 50_000, maxTotalTimeout: 50_000 }]);
});

test("a modern client answers within 50 seconds, and an answer that nothing asked for is none", async () => {
  const { clock, confirm } = person("modern");
  // Nothing was asked yet, for example because the server was restarted.
  expect(await confirm(question, request(typed("500")))).toMatchObject({ kind: "ask" });
  clock.ms += 50_001;
  expect(await confirm(question, request(typed("500")))).toEqual({
    ...{ kind: "unconfirmed", why: "unanswered" },
  });
  expect(await confirm(question, request({}))).toMatchObject({ kind: "ask" });
  clock.ms += 49_999;
  expect(await confirm(question, request(typed("500")))).toEqual({ kind: "confirmed" });
  expect(await confirm(question, request({}))).toEqual({ kind: "confirmed" });
});

test("an answer of another kind, or for another question, confirms nothing", async () => {
  const { confirm } = person("modern");
  await confirm(question, request({}));
  for (const other of [{ id: "B2" }, { digest: "d2" }, { total: "5000" }])
    expect(await confirm({ ...question, ...other }, request(typed("500")))).toMatchObject({
      kind: "ask",
    });
  const roots = { inputResponses: { total: { roots: [] } } };
  expect(await confirm(question, request(roots))).toMatchObject({ kind: "unconfirmed" });
});

test("another plan with the same ID, or with another total, is not confirmed", async () => {
  const { confirm, isConfirmed } = person("modern");
  await confirm(question, request({}));
  await confirm(question, request(typed("500")));
  expect(isConfirmed(question)).toBe(true);
  for (const other of [{ digest: "d2" }, { total: "5000" }]) {
    expect(isConfirmed({ ...question, ...other })).toBe(false);
    expect(await confirm({ ...question, ...other }, request({}))).toMatchObject({ kind: "ask" });
  }
});

test.each([
  [{ form: {} }, true],
  [{}, true],
  [{ url: {} }, false],
  [{ url: {}, form: {} }, true],
  [undefined, false],
])("a client that declares elicitation %j can ask with a form: %s", (elicitation, can) => {
  const meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation } };
  expect(person("modern").canAsk(request({ envelope: meta }), undefined)).toBe(can);
  expect(person("legacy").canAsk(request({}), { elicitation })).toBe(can);
});
