import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methodOf, writes } from "../commands/writes.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { type Behaviour, refusal, serve, success } from "../support/server.ts";
import { type Certificates, makeCertificates, trustAuthority } from "../support/tls.ts";
import { tool } from "../tool.js";
import { openPrompts, openTerminal, type Prompts, terminalTest } from "./terminal.ts";

const key = "public-ABC-ABCDEFGHIJKL-XYZ";
let certificates: Certificates;
let trustNoLonger = (): void => {};
beforeAll(() => {
  certificates = makeCertificates();
  trustNoLonger = trustAuthority(certificates.authorityFile);
});
afterAll(() => trustNoLonger());

/** A production API that rejects every request and counts the connections. */
async function production(answer: () => Behaviour = () => refusal(400)) {
  const service = await serve(answer, { tls: certificates });
  const env = {
    LENDEN_BASE_URL: `https://localhost:${service.port}`,
    LENDEN_API_KEY: key,
    LENDEN_PAYOUT_SECRET: "a-payout-secret",
    NODE_EXTRA_CA_CERTS: certificates.authorityFile,
  };
  return { service, env };
}

type Service = Awaited<ReturnType<typeof production>>["service"];

async function expectNothingSent(terminal: Prompts, service: Service, code: number) {
  const ended = await terminal.ended();
  expect({ ...ended, connections: service.connections() }).toMatchObject({
    code,
    isRestored: true,
    connections: 0,
  });
  expect(ended.screen).not.toContain("ABCDEFGH");
}

/** `payout send` of an amount. */
function payoutOf(amount: string): string[] {
  const order = ["--amount", amount, "--to", "01712345678", "--method-id", "M1", "--ref", "INV-7"];
  return ["payout", "send", ...order];
}

/** `payout send` of an amount, at its prompt. */
async function sending(amount: string, more: Record<string, string> = {}) {
  const { service, env } = await production();
  return { service, terminal: openPrompts(payoutOf(amount), { env: { ...env, ...more } }) };
}

describe("a payout on a production account", () => {
  terminalTest("is sent after a yes", async () => {
    const { service, env } = await production();
    const terminal = await openTerminal(payoutOf("500"), { env });
    await terminal.answer("Send a payout?", "y");
    expect(await terminal.ended()).toMatchObject({ code: 3, isRestored: true });
    expect(service.count("/payout/create-by-server")).toBe(1);
  });

  test.for(["", "yolo", "yes please"])("is not sent after %j", async (answer) => {
    const { service, terminal } = await sending("500");
    await terminal.answer("Send a payout?", answer);
    await expectNothingSent(terminal, service, 4);
    expect(await terminal.screen()).toContain("error: Not confirmed. Nothing was sent.");
  });

  terminalTest("is not sent for a yes that was typed before the prompt", async () => {
    const { service, env } = await production();
    const late = `stty -a >"$0"; sleep 1; exec "$@"`;
    const started = join(scratchFolder(), "started");
    const program = ["sh", "-c", late, started, ...tool];
    const terminal = await openTerminal(payoutOf("500"), { env, program });
    await until(() => existsSync(started));
    await terminal.type("y\ny\n");
    await terminal.answer("Send a payout?", "");
    await expectNothingSent(terminal, service, 4);
  });

  test.for<[string, number, (terminal: Prompts) => Promise<void>]>([
    ["500", 130, (terminal) => terminal.press("C-c")],
    ["25000.5", 130, (terminal) => terminal.press("C-c")],
    ["500", 143, (terminal) => terminal.signal("SIGTERM")],
  ])("of BDT %s is not sent if a signal stops it (%i)", async ([amount, code, stop]) => {
    const { service, terminal } = await sending(amount);
    await terminal.shows(/PRODUCTION +(?:Send a payout\?|Type)/);
    await stop(terminal);
    await expectNothingSent(terminal, service, code);
  });
});

describe("an amount above the limit", () => {
  test("is sent after it was typed", async () => {
    const { service, terminal } = await sending("25000.50");
    await terminal.answer("Type the amount (25000.5) to confirm", " 25000.50");
    expect((await terminal.ended()).code).toBe(3);
    expect(service.count("/payout/create-by-server")).toBe(1);
  });

  test.for(["", "y", "25,000.50", "25000"])("is not sent after %j", async (answer) => {
    const { service, terminal } = await sending("25000.50");
    await terminal.answer("Type the amount (25000.5) to confirm", answer);
    await expectNothingSent(terminal, service, 4);
  });

  test("is typed for every command", async () => {
    const { service, env } = await production();
    const pay =
      "--description x --method-id M1 --redirect-url https://a.example --callback-url https://a.example";
    const refund = "--payment TX1 --account-type personal --account-number 01812345678";
    const lines = [
      `pay create --amount 10000.01 ${pay}`,
      `refund create --amount 10000.01 ${refund}`,
      "api POST /payout/create-by-server -f amount=10000.01",
    ];
    const codes = lines.map(async (line) => {
      const terminal = openPrompts(line.split(" "), { env });
      await terminal.answer("Type the amount (10000.01) to confirm", "y");
      return (await terminal.ended()).code;
    });
    expect(await Promise.all(codes)).toEqual([4, 4, 4]);
    expect(service.connections()).toBe(0);
  });

  test("is measured by the limit of the profile", async () => {
    const own = { LENDEN_CONFIG_DIR: scratchFolder() };
    const add = ["profile", "add", "shop", "--key-stdin", "--base-url", "https://a.example"];
    await lenden(add, { env: own, stdin: key });
    await lenden(["profile", "set", "confirm-above", "25000.5"], { env: own });
    const profile = { ...own, LENDEN_PROFILE: "shop" };
    await (await sending("25000.50", profile)).terminal.shows("Send a payout?");
    const above = await sending("25000.51", profile);
    await above.terminal.shows("Type the amount (25000.51) to confirm");
  });
});

describe("a batch on a production account", () => {
  /** Two rows of 30.50 in total, at the prompt. */
  async function sendingBatch() {
    const { service, env } = await production();
    const file = join(scratchFolder(), "rows.csv");
    writeFileSync(file, "amount,to\n10,01712345678\n20.50,01812345678\n");
    const line = ["payout", "batch", "send", file, "--method-id", "M1"];
    const terminal = openPrompts(line, { env });
    return { service, terminal };
  }

  test("is sent after its total was typed", async () => {
    const { service, terminal } = await sendingBatch();
    await terminal.answer("Type the total", "30.50");
    expect((await terminal.ended()).code).toBe(6);
    expect(service.count("/payout/create-by-server")).toBe(2);
  });

  test.for(["", "y", "30.51", "2"])("is not sent after %j", async (answer) => {
    const { service, terminal } = await sendingBatch();
    await terminal.answer("Type the total", answer);
    await expectNothingSent(terminal, service, 4);
  });

  test("is not sent after Ctrl-C", async () => {
    const { service, terminal } = await sendingBatch();
    await terminal.shows("Type the total");
    await terminal.press("C-c");
    await expectNothingSent(terminal, service, 130);
  });

  test("is not sent if a recipient was paid while the prompt was shown", async () => {
    let answer: Behaviour = refusal(401);
    const { service, env } = await production(() => answer);
    const file = join(scratchFolder(), "rows.csv");
    writeFileSync(file, "ref,amount,to\nA,10,01712345678\nB,20.50,01812345678\n");
    const own = { ...env, LENDEN_DATA_DIR: scratchFolder(), LENDEN_CONFIG_DIR: scratchFolder() };
    const line = ["payout", "batch", "send", file, "--method-id", "M1", "--concurrency", "1"];
    const expected = ["--yes", "--expect-total", "30.50", "--expect-count", "2"];
    expect((await built([...line, ...expected], { env: own })).code).toBe(4);
    const terminal = openPrompts(line, { env: own });
    await terminal.shows("Type the total");
    // Accepted, as far as lenden can know: the response is for a different payout.
    answer = success({ payoutId: "PO1", merchantRef: "OTHER", amount: 1, status: "Processing" });
    const same = "--amount 20.50 --to 01812345678 --method-id M1 --ref OTHER --again --yes";
    const other = await built(["payout", "send", ...same.split(" ")], { env: own });
    expect(other.code).toBe(5);
    const sent = service.count("/payout/create-by-server");
    await terminal.answer("Type the total", "30.50");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(2);
    expect(screen).toContain("OTHER");
    expect(service.count("/payout/create-by-server")).toBe(sent);
  });
});

test("every command that writes asks, and sends nothing after a no", async () => {
  const { service, env } = await production();
  const codes = writes.map(async ([name, flags]) => {
    const line = [...name.split(" "), ...flags, ...methodOf(name, "--method", "bkash")];
    const terminal = openPrompts(line, { env });
    await terminal.answer(/PRODUCTION .*\? \(y\/N\)/, "");
    return (await terminal.ended()).code;
  });
  expect(await Promise.all(codes)).toEqual(writes.map(() => 4));
  expect(service.connections()).toBe(0);
});
