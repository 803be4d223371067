import { Agent, type Dispatcher } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { exchange } from "../../src/api/exchange.ts";
import { together } from "../../src/api/flush-together.ts";
import { misbehave, success } from "./misbehaving.ts";

/** What two steps of so many answers did, in the order in which they did it. */
async function stepsOf(count: number): Promise<string[]> {
  const steps: string[] = [];
  const answers = Array.from({ length: count }, async (_, index) => {
    await new Promise<void>((resolve) => together(resolve));
    steps.push(`first ${index}`);
    await Promise.resolve();
    steps.push(`second ${index}`);
  });
  expect(steps).toEqual([]);
  await Promise.all(answers);
  return steps;
}

test("answers that came together go through each step side by side", async () => {
  const indices = [0, 1, 2, 3, 4, 5, 6, 7];
  expect(await stepsOf(indices.length)).toEqual([
    ...indices.map((index) => `first ${index}`),
    ...indices.map((index) => `second ${index}`),
  ]);
});

test("what comes later is worked on too", async () => {
  expect(await stepsOf(1)).toEqual(["first 0", "second 0"]);
  expect(await stepsOf(2)).toHaveLength(4);
});

test("an answer that is whole stays one, although a stop comes before its turn", async () => {
  const server = await misbehave(() => success({}));
  const stop = new AbortController();
  const agent = endingTogether(20, () => stop.abort());
  const exchanges = Array.from({ length: 20 }, () =>
    exchange(
      {
        method: "GET",
        url: new URL(server.baseUrl),
        headers: {},
        freshConnection: false,
        signal: stop.signal,
      },
      agent,
    ),
  );
  for (const ended of await Promise.all(exchanges))
    expect(ended).toMatchObject({ kind: "answer", status: 200 });
});

/** A real agent, whose answers all end at the same moment. */
function endingTogether(count: number, then: () => void): Dispatcher {
  const ends: (() => void)[] = [];
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  return agent.compose((dispatch) => (options, handler) => {
    const onResponseEnd: typeof handler.onResponseEnd = (...how) => {
      ends.push(() => handler.onResponseEnd?.(...how));
      if (ends.length < count) return;
      for (const end of ends) end();
      then();
    };
    return dispatch(options, { ...handler, onResponseEnd });
  });
}
