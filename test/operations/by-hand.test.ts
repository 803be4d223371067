import { expect, test } from "vitest";
import type { Failure } from "../../src/failure.ts";
import { sendByHand } from "../../src/operations/by-hand.ts";
import { payoutBody } from "../../src/operations/payout-order.ts";
import { created, data, order, scripted, unclear } from "./scripted.ts";

const call = { method: "POST", path: "/payout/create-by-server", body: payoutBody(order) };
const once = { again: false };

test("P22: a call in doubt that is stopped before it goes out again stays in doubt", async () => {
  const run = scripted(
    {},
    {
      onSleep: (state) => {
        state.stopping = true;
      },
    },
  );
  const lost = async () => ({ answer: unclear("connection lost") });
  const first = await sendByHand("payout", call, lost, once, run.world);
  expect(first.failure).toMatchObject({ kind: "uncertain" });
  let sent = 0;
  const send = async () => {
    sent += 1;
    return { answer: data(created) };
  };
  const second: Failure = await sendByHand("payout", call, send, once, run.world).catch(
    (error) => error,
  );
  const [operation] = (await run.ledger()).list("payout", { limit: 9 });
  expect([second.kind, sent, operation?.state, operation?.attempts]).toEqual([
    "uncertain",
    0,
    "UNCERTAIN",
    1,
  ]);
});
