import { once } from "node:events";
import { createServer } from "node:https";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { openReceiver } from "../sandbox/running.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { lenden, startBuilt } from "../support/lenden.ts";
import { paymentOf, refundOf } from "../support/merchant.ts";
import { listen } from "../support/server.ts";
import { makeCertificates } from "../support/tls.ts";

test("sandbox start sends callbacks about payments and refunds, and sandbox requests shows each attempt", async () => {
  const { url, bodies } = await openReceiver();
  const { run, env } = await startSandbox(["--refund-callback-url", url]);
  const payment = await run(paymentOf("shoes", "--callback-url", url, "-q"));
  await run(["sandbox", "trigger", "payment", payment]);
  const refund = await run([...refundOf(payment, "5"), "-q"]);
  await run(["refund", "cancel", refund]);
  await until(() => bodies().length >= 2);
  expect(bodies()).toMatchObject([
    { transactionId: payment, status: "Completed" },
    { refundRequestId: refund, status: "Cancelled" },
  ]);
  const callbacks = async (): Promise<string[]> =>
    (await run(["sandbox", "requests", "-o", "csv"]))
      .split("\r\n")
      .filter((row) => row.includes(url));
  await until(async () => (await callbacks()).length >= 2);
  for (const row of await callbacks()) expect(row).toMatch(/,POST,http:[^,]*,200,\d+,,1,$/);
  const follow = startBuilt(["sandbox", "requests", "--follow"], env);
  const lines: string[] = [];
  createInterface({ input: follow.stdout }).on("line", (line) => lines.push(line));
  const isCallback = (line: string) =>
    /POST .*200 /.test(line) && line.includes(`${url}  callback`);
  await until(() => lines.some(isCallback));
  follow.kill("SIGINT");
  await once(follow, "exit");
});

test("a callback to https: is sent if its certificate is trusted, and its failure is explained otherwise", async () => {
  const { key, cert, authorityFile } = makeCertificates();
  const server = createServer({ key, cert }, (_, outgoing) => outgoing.end());
  const address = `https://localhost:${await listen(server)}/callback`;
  onTestFinished(() => void server.close());
  for (const [env, shown] of [
    [{}, /,,\d+,,1,UNABLE_TO_VERIFY_LEAF_SIGNATURE: its certificate is not trusted; .*CA_CERTS$/],
    [{ NODE_EXTRA_CA_CERTS: authorityFile }, /,200,\d+,,1,$/],
  ] as const) {
    const { run } = await startSandbox([], env);
    const payment = await run(paymentOf("shoes", "--callback-url", address, "-q"));
    await run(["sandbox", "trigger", "payment", payment]);
    const tries = async () =>
      (await run(["sandbox", "requests", "-o", "csv"]))
        .split("\r\n")
        .filter((row) => row.includes(address));
    await until(async () => (await tries()).length > 0);
    expect((await tries())[0]).toMatch(shown);
  }
});

test("the sandbox receives its own callbacks and customers if a payment has no URLs", async () => {
  const { run, env } = await startSandbox();
  const payment = await run(paymentOf("shoes", "-q"));
  await run(["sandbox", "trigger", "payment", payment]);
  const rows = async () => (await run(["sandbox", "requests", "-o", "csv"])).split("\r\n");
  await until(async () => (await rows()).some((row) => /:\d+\/callback,200,\d+,,1,$/.test(row)));
  const page = await fetch(`${new URL(env.LENDEN_BASE_URL ?? "").origin}/return`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("You are back at the merchant");
});

/** A running `sandbox start`, and lenden on its account: what a run printed, trimmed. */
async function startSandbox(flags: string[] = [], more: Record<string, string> = {}) {
  const folder = scratchFolder();
  const child = startBuilt(["sandbox", "start", "--port", "0", "--json", ...flags], {
    LENDEN_CONFIG_DIR: folder,
    ...more,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), "line");
  const { baseUrl, apiKey }: Record<string, string> = JSON.parse(String(line));
  const env = { LENDEN_CONFIG_DIR: folder, LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: apiKey };
  const run = async (args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await lenden(args, { env });
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.trim();
  };
  return { child, env, run };
}
