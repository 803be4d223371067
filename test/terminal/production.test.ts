import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect } from "vitest";
import { methodOf, writes } from "../commands/writes.ts";
import { type Certificates, makeCertificates } from "../http/certificates.ts";
import { type Behaviour, misbehave, refusal, success } from "../http/misbehaving.ts";
import { until } from "../merchant.ts";
import { built, lenden, scratchFolder } from "../run.ts";
import { tool } from "../tool.js";
import { openTerminal, terminalTest } from "./terminal.ts";

const key = "public-ABC-ABCDEFGHIJKL-XYZ";
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});

/** A production service that refuses whatever it is asked, and counts who knocks. */
async function production(answer: () => Behaviour = () => refusal(400)) {
  const service = await misbehave(answer, { tls: certificates });
  const env = {
    LENDEN_BASE_URL: `https://localhost:${service.port}`,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: "a-payout-secret",
    NODE_EXTRA_CA_CERTS: certificates.authorityFile,
  };
  return { service, env };
}

/** `lenden payout send` of a sum, at its question. */
async function sending(amount: string, more: Record<string, string> = {}, program = tool) {
  const { service, env } = await production();
  const what = ["--amount", amount, "--to", "01712345678", "--method-id", "M1", "--ref", "INV-7"];
  const terminal = await openTerminal(["payout", "send", ...what], {
    env: { ...env, ...more },
    program,
  });
  return { service, terminal };
}

describe("a payout with real money", () => {
  terminalTest("is sent after a yes", async () => {
    const { service, terminal } = await sending("500");
    await terminal.answer("Send a payout?", "y");
    const { code, isRestored } = await terminal.ended();
    expect({ code, isRestored, asked: service.count("/payout/create-by-server") }).toEqual({
      code: 3,
      isRestored: true,
      asked: 1,
    });
  });

  terminalTest.for(["", "x", "yolo", "yes please"])("is not sent after %j", async (answer) => {
    const { service, terminal } = await sending("500");
    await terminal.answer("Send a payout?", answer);
    const { code, screen, isRestored } = await terminal.ended();
    expect({ code, isRestored, knocks: service.connections() }).toEqual({
      code: 4,
      isRestored: true,
      knocks: 0,
    });
    if (answer === "") await expect(screen).toMatchFileSnapshot("__snapshots__/production-no.txt");
  });

  terminalTest("is not sent for a yes that was typed before the question", async () => {
    const late = `stty -a >"$0"; sleep 1; exec "$@"`;
    const begun = join(scratchFolder(), "begun");
    const { service, terminal } = await sending("500", {}, ["sh", "-c", late, begun, ...tool]);
    await until(() => existsSync(begun));
    await terminal.type("y\ny\n");
    await terminal.answer("Send a payout?", "");
    const { code } = await terminal.ended();
    expect({ code, knocks: service.connections() }).toEqual({ code: 4, knocks: 0 });
  });

  terminalTest.for(["500", "25000.5"])("of BDT %s is left with Ctrl-C", async (amount) => {
    const { service, terminal } = await sending(amount);
    await terminal.shows(/PRODUCTION +(?:Send a payout\?|Type)/);
    await terminal.press("C-c");
    const { code, screen, isRestored } = await terminal.ended();
    expect({ code, isRestored, knocks: service.connections() }).toEqual({
      code: 130,
      isRestored: true,
      knocks: 0,
    });
    expect(screen).not.toContain("ABCDEFGH");
  });
});

terminalTest("a question that SIGTERM takes away sends nothing", async () => {
  const { service, terminal } = await sending("500");
  await terminal.shows("Send a payout?");
  await terminal.signal("SIGTERM");
  const { code, isRestored } = await terminal.ended();
  expect({ code, isRestored, knocks: service.connections() }).toEqual({
    code: 143,
    isRestored: true,
    knocks: 0,
  });
});

describe("a sum above the limit", () => {
  terminalTest.for(["25000.5", " 25000.50"])("is sent after %j", async (answer) => {
    const { service, terminal } = await sending("25000.50");
    await terminal.answer("Type the amount, 25000.5, to go on", answer);
    expect((await terminal.ended()).code).toBe(3);
    expect(service.count("/payout/create-by-server")).toBe(1);
  });

  terminalTest.for(["", "25,000.50", "25000"])("is not sent after %j", async (answer) => {
    const { service, terminal } = await sending("25000.50");
    await terminal.answer("Type the amount, 25000.5, to go on", answer);
    const { code, screen } = await terminal.ended();
    expect({ code, knocks: service.connections() }).toEqual({ code: 4, knocks: 0 });
    if (answer === "25,000.50")
      await expect(screen).toMatchFileSnapshot("__snapshots__/production-typed-wrong.txt");
  });

  terminalTest("is typed whatever the command", async () => {
    const { service, env } = await production();
    const create = [
      "--description",
      "x",
      "--method-id",
      "M1",
      "--redirect-url",
      "https://a.example",
    ];
    const account = ["--account-type", "personal", "--account-number", "01812345678"];
    const lines = [
      ["pay", "create", "--amount", "10000.01", ...create, "--callback-url", "https://a.example"],
      ["refund", "create", "--payment", "TX1", "--amount", "10000.01", ...account],
      ["api", "POST", "/payout/create-by-server", "-f", "amount=10000.01"],
    ];
    const codes = lines.map(async (line) => {
      const terminal = await openTerminal(line, { env });
      await terminal.answer("Type the amount, 10000.01, to go on", "y");
      return (await terminal.ended()).code;
    });
    expect(await Promise.all(codes)).toEqual([4, 4, 4]);
    expect(service.connections()).toBe(0);
  });

  terminalTest("begins above the profile's own limit, which the limit itself is not", async () => {
    const folder = scratchFolder();
    const { env } = await production();
    const own = { LENDEN_CONFIG_DIR: folder };
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", env.LENDEN_BASE_URL];
    await lenden(add, { env: own, stdin: key });
    expect((await lenden(["profile", "set", "confirm-above", "25000.5"], { env: own })).code).toBe(
      0,
    );
    const profile = { ...own, LENDEN_PROFILE: "shop" };
    const at = await sending("25000.50", profile);
    await at.terminal.shows("Send a payout?");
    const above = await sending("25000.51", profile);
    await above.terminal.shows("Type the amount, 25000.51, to go on");
  });
});

describe("a batch with real money", () => {
  /** Two rows that come to 30.50, at the question. */
  async function sendingBatch() {
    const { service, env } = await production();
    const file = join(scratchFolder(), "rows.csv");
    writeFileSync(file, "amount,to\n10,01712345678\n20.50,01812345678\n");
    const line = ["payout", "batch", "send", file, "--method-id", "M1"];
    const terminal = await openTerminal(line, { env, rows: 40 });
    return { service, terminal };
  }

  terminalTest("goes on once its total is typed", async () => {
    const { service, terminal } = await sendingBatch();
    await terminal.answer("Type the total", "30.50");
    const { code } = await terminal.ended();
    expect({ code, asked: service.count("/payout/create-by-server") }).toEqual({
      code: 6,
      asked: 2,
    });
  });

  terminalTest.for(["", "y", "30.51", "2"])("is not sent after %j", async (answer) => {
    const { service, terminal } = await sendingBatch();
    await terminal.answer("Type the total", answer);
    const { code } = await terminal.ended();
    expect({ code, knocks: service.connections() }).toEqual({ code: 4, knocks: 0 });
  });

  terminalTest("is left with Ctrl-C", async () => {
    const { service, terminal } = await sendingBatch();
    await terminal.shows("Type the total");
    await terminal.press("C-c");
    const { code, isRestored } = await terminal.ended();
    expect({ code, isRestored, knocks: service.connections() }).toEqual({
      code: 130,
      isRestored: true,
      knocks: 0,
    });
  });
});

terminalTest("who was paid while somebody looked at the total is not paid again", async () => {
  let answer: Behaviour = refusal(401);
  const { service, env } = await production(() => answer);
  const file = join(scratchFolder(), "rows.csv");
  writeFileSync(file, "ref,amount,to\nA,10,01712345678\nB,20.50,01812345678\n");
  const own = { ...env, LENDEN_DATA_DIR: scratchFolder(), LENDEN_CONFIG_DIR: scratchFolder() };
  const line = ["payout", "batch", "send", file, "--method-id", "M1", "--concurrency", "1"];
  const expected = ["--yes", "--expect-total", "30.50", "--expect-count", "2"];
  expect((await built([...line, ...expected], { env: own })).code).toBe(4);
  const terminal = await openTerminal(line, { env: own, rows: 40 });
  await terminal.shows("Type the total");
  // Made, as far as anybody can tell: what came back is another payout's.
  answer = success({ payoutId: "PO1", merchantRef: "OTHER", amount: 1, status: "Processing" });
  const same = ["--amount", "20.50", "--to", "01812345678", "--method-id", "M1", "--ref", "OTHER"];
  expect((await built(["payout", "send", ...same, "--again", "--yes"], { env: own })).code).toBe(5);
  const sent = service.count("/payout/create-by-server");
  await terminal.answer("Type the total", "30.50");
  const { code, screen } = await terminal.ended();
  expect([code, screen]).toEqual([
    2,
    expect.stringMatching(/same amount may have been\s+sent[\s\S]*as\s+OTHER/),
  ]);
  expect(service.count("/payout/create-by-server")).toBe(sent);
});

terminalTest("every command that writes asks, and a no sends nothing", async () => {
  const { service, env } = await production();
  const outcomes = writes.map(async ([name, flags]) => {
    const line = [...name.split(" "), ...flags, ...methodOf(name, "--method", "bkash")];
    const terminal = await openTerminal(line, { env });
    await terminal.answer(/PRODUCTION .*\? \(y\/N\)/, "");
    return (await terminal.ended()).code;
  });
  expect(await Promise.all(outcomes)).toEqual(writes.map(() => 4));
  expect(service.connections()).toBe(0);
});
