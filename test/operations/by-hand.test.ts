import { expect, test } from "vitest";
import type { Failure } from "../../src/domain/failure.ts";
import type { Call } from "../../src/operations/raw-intent.ts";
import { sendByHand } from "../../src/operations/raw-requests.ts";
import { payoutBody } from "../../src/payouts/order.ts";
import { created, data, failure, order, scripted, unclear } from "./scripted.ts";

const call: Call = { method: "POST", path: "/payout/create-by-server", body: payoutBody(order) };
const once = { again: false };

test("P9: a call of unknown outcome with another text is not sent", async () => {
  const run = scripted({});
  let sent = 0;
  const lost = async () => {
    sent += 1;
    return { answer: unclear("connection lost") };
  };
  await sendByHand("payout", call, lost, once, run.world);
  const other = { ...call, body: { ...call.body, recipientName: "Karim" } };
  expect(await failure(sendByHand("payout", other, lost, once, run.world))).toMatchObject({
    kind: "usage",
    message: "INV-7 was asked for with other texts: name Rahima.",
  });
  expect(sent).toBe(1);
});

test("P22: a call of unknown outcome that is stopped before the retry stays unknown", async () => {
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
  const [operation] = await (await run.ledger()).list("payout", { limit: 9 });
  expect([second.kind, sent, operation?.state, operation?.attempts]).toEqual([
    "uncertain",
    0,
    "UNCERTAIN",
    1,
  ]);
});
