import { expect, test } from "vitest";
import type { Look } from "../../src/callbacks/verify.ts";
import { posted, smallIntake } from "./small-intake.ts";

const limits = { retrievePauseMs: 0 };

function said(status: string) {
  return posted(JSON.stringify({ transactionId: "TX1AAAAA", status }));
}

test("all that come while a callback is looked at are one more look, after that one", async () => {
  const answers: ((status: string | undefined) => void)[] = [];
  const look: Look = async () => {
    const status = await new Promise<string | undefined>((resolve) => answers.push(resolve));
    return status === undefined ? undefined : { amount: 100, status };
  };
  const { intake, callbacks, taken } = await smallIntake({ limits, look });
  for (let time = 0; time < 3; time += 1) await intake.take(said("Processing"), "received");
  expect(answers).toHaveLength(1);
  answers[0]?.(undefined);
  await expect.poll(() => answers).toHaveLength(2);
  answers[1]?.("Processing");
  await intake.idle();
  expect(answers).toHaveLength(2);
  expect(taken.map(({ verdict }) => verdict)).toEqual(["unknown", "verified"]);
  expect(await callbacks.find(1)).toMatchObject({ count: 3, judged: { verdict: "verified" } });
});

test.each(["Processing", "Completed"])(
  "of what an earlier run looked at, %s by now, a run tells once",
  async (status) => {
    const look: Look = async () => ({ amount: 100, status });
    const earlier = await smallIntake({ limits, look });
    await earlier.intake.take(said(status), "received");
    await earlier.intake.idle();
    const { intake, taken } = await smallIntake({ limits, look, database: earlier.database });
    for (let time = 0; time < 3; time += 1) {
      await intake.take(said(status), "received");
      await intake.idle();
    }
    expect(taken).toMatchObject([{ verdict: "verified", callback: { number: 1 } }]);
  },
);
