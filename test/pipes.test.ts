import { expect, test } from "vitest";
import { builtEnv, runProgram } from "./support/lenden.ts";
import { payoutOf, testAccount } from "./support/merchant.ts";
import { toolLine } from "./tool.js";

const account = testAccount();

/** Prints the exit code of a pipe's first command, last on stderr. */
const codeOfFirst = `echo "\${PIPESTATUS[0]}" >&2`;

/** Runs a bash script in which `lenden` is the built tool; its last line on stderr is a code. */
async function bash(script: string): Promise<{ stdout: string; code: string }> {
  const { LENDEN_CONFIG_DIR: _, ...service } = account.env();
  const env = builtEnv(service);
  const whole = `lenden() { ${toolLine} "$@"; }\n${script}`;
  const { stdout, stderr } = await runProgram(["bash", "-c", whole], { env });
  return { stdout, code: stderr.trim().split("\n").at(-1) ?? "" };
}

const send = (reference: string) =>
  `lenden payout send --amount 5 --to 01712345678 --method bkash --ref ${reference}`;

const raw = "lenden api POST /payout/create-by-server -f merchantRef=PIPE-9";

const sends = async (reference: string) => account.json(payoutOf(reference));

test("demo in a pipe to head ends with 0", async () => {
  const { stdout, code } = await bash(`lenden demo | head -1; ${codeOfFirst}`);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  expect(stdout).toContain("1. List the payment methods");
  expect(code).toBe("0");
});

test.each(["--version", "--help", "methods --json"])(
  "%s with a full disk as stdout ends with 1",
  async (line) => {
    const { stdout } = await bash(`lenden ${line} 2>&1 >/dev/full; echo $?`);
    expect(stdout).toMatch(/ENOSPC[\s\S]*\n1\n$/);
    expect(stdout).not.toMatch(/\n +at /);
  },
);

test.each([
  [send("PIPE-6"), 75],
  [`${send("PIPE-7")} --json`, 75],
  [`${send("PIPE-8")} --dry-run`, 1],
  [`${raw} -f amount=5 -f recipientNumber=01712345678 -f paymentMethodId=665f1c2ab8e4`, 75],
  [`${raw} -f amount=6 -f recipientNumber=01712345678 -f paymentMethodId=none`, 1],
  ["lenden api GET /payment/methods", 1],
])(
  "%s with a full disk as stdout shows the result in the error, and ends with %i",
  async (line, code) => {
    const { stdout } = await bash(`${line} 2>&1 >/dev/full; echo $?`);
    expect(stdout).toMatch(
      new RegExp(`result .*standard output: .*ENOSPC[^]*The result was: .{20}[^]*\n${code}\n$`),
    );
  },
);

test.each([
  ["a reader that leaves at once", "PIPE-1", "| true"],
  ["a reader that leaves before it is read", "PIPE-2", "2>&1 | (exec <&-; sleep 0.4)"],
  ["stdout and stdin closed", "PIPE-4", ">&- <&-"],
])("a payout with %s is sent and ends with 0", async (_, reference, how) => {
  const { code } = await bash(`${send(reference)} ${how}; ${codeOfFirst}`);
  expect(code).toBe("0");
  await expectMade(reference);
});

test("a payout with stdout and stderr closed is sent", async () => {
  const { code } = await bash(`${send("PIPE-5")} >&- 2>&-; echo "$?" >&2`);
  expect(code).toBe("0");
  await expectMade("PIPE-5");
});

test("a failed command in a closed pipe keeps its exit code", async () => {
  const { code } = await bash(`lenden pay get TX0 2>&1 | true; ${codeOfFirst}`);
  expect(code).toBe("9");
});

/** Sent once more, the service answers with the payout that it has from before. */
async function expectMade(reference: string): Promise<void> {
  const beforeMs = Date.now();
  const made: unknown = await sends(reference);
  const createdAt = typeof made === "object" && made && "createdAt" in made && made.createdAt;
  expect(Date.parse(String(createdAt))).toBeLessThan(beforeMs);
}
