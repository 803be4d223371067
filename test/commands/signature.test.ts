import { expect, test } from "vitest";
import vectors from "../fixtures/signatures.json" with { type: "json" };
import { runs } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";

type Vector = (typeof vectors)[number];

// Output is scrubbed of a secret, and one of a few characters is a part of many texts; one with a
// space inside, and a reference that begins like a flag, are rejected by the command line.
const some = vectors
  .filter(({ secret, ref }) => secret.length >= 12 && !/\s/.test(secret) && !ref.startsWith("-"))
  .slice(0, runs(8, 1000));

const flagsOf = ({ typed, ref, timestamp }: Vector) => [
  `--amount=${typed}`,
  `--ref=${ref}`,
  `--timestamp=${timestamp}`,
];

test("payout sign prints the message and the signature of each vector, offline", async () => {
  for (const vector of some) {
    const env = { LENDEN_PAYOUT_SECRET: vector.secret };
    const line = ["payout", "sign", ...flagsOf(vector)];
    const { code, stdout, stderr } = await lenden([...line, "--json"], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { message, signature, timestamp } = vector;
    expect(JSON.parse(stdout)).toEqual({ message, signature, timestamp });
    expect((await lenden([...line, "-q"], { env })).stdout).toBe(`${signature}\n`);
  }
});

test("`payout verify` says yes to each vector, and no with exit 11 to one bit less", async () => {
  for (const vector of some) {
    const env = { LENDEN_PAYOUT_SECRET: vector.secret };
    const line = ["payout", "verify", ...flagsOf(vector), "--json", "--signature"];
    const right = await lenden([...line, vector.signature], { env });
    expect({ code: right.code, ...JSON.parse(right.stdout) }).toMatchObject({
      code: 0,
      matches: true,
    });
    const last = vector.signature.endsWith("0") ? "1" : "0";
    const wrong = await lenden([...line, vector.signature.slice(0, -1) + last], { env });
    expect({ code: wrong.code, ...JSON.parse(wrong.stdout) }).toMatchObject({
      code: 11,
      matches: false,
      part: "unknown",
    });
  }
});

test("without a timestamp it is signed for this moment", async () => {
  const { stdout } = await lenden(["payout", "sign", "--amount", "5", "--ref", "A", "--json"], {
    env: { LENDEN_PAYOUT_SECRET: "secret" },
    host: { now: () => 1_763_614_800_999 },
  });
  expect(JSON.parse(stdout)).toMatchObject({ message: "5:A:1763614800", timestamp: 1_763_614_800 });
});
