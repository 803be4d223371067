import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { soon } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { closedPort, serve, success } from "../support/server.ts";
import { resolveName, stalledLine, withoutRoute } from "../support/slow-line.ts";
import { connectProxy, makeCertificates, trustAuthority } from "../support/tls.ts";
import { envOf } from "./answering.ts";

const methods = [{ id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" }];
/** The certificate of the tests is for this name. */
const name = "service.test";
/** After the name was looked up: Node would have cut off three attempts, and the second SYN is to come. */
const resumeAfterMs = 850;
const host = { sleep: soon };

async function secureApi() {
  const certificates = makeCertificates();
  onTestFinished(trustAuthority(certificates.authorityFile));
  return serve(() => success(methods), { tls: certificates });
}

describe("a line that needs more than 250 ms to connect, and no route to the IPv6 address", () => {
  test("connects to the API over IPv4", async () => {
    const api = await secureApi();
    const line = await stalledLine(api.port);
    const lookedUp = resolveName(name, ["127.0.0.1", withoutRoute]);
    const running = lenden(["methods", "-q"], { env: envOf(`https://${name}:${line.port}`), host });
    await lookedUp;
    await delay(resumeAfterMs);
    line.resume();
    expect(await running).toMatchObject({ code: 0, stdout: "665f1c2ab8e4\n", stderr: "" });
    expect(api.count()).toBe(1);
  });

  test("connects to a proxy over IPv4", async () => {
    const api = await secureApi();
    const proxy = await connectProxy(api.port);
    const line = await stalledLine(proxy.port);
    const lookedUp = resolveName("proxy.test", ["127.0.0.1", withoutRoute]);
    const env = {
      ...envOf(`https://${name}`),
      HTTPS_PROXY: `http://proxy.test:${line.port}`,
    };
    const running = lenden(["methods", "-q"], { env, host });
    await lookedUp;
    await delay(resumeAfterMs);
    line.resume();
    expect(await running).toMatchObject({ code: 0, stdout: "665f1c2ab8e4\n", stderr: "" });
    expect(proxy.asked).toEqual([`CONNECT ${name}:443`]);
  });
});

describe("the message if no address can be reached", () => {
  const message = async (port: number, addresses: string[]) => {
    resolveName(name, addresses);
    const env = envOf(`https://${name}:${port}`);
    const outcome = await lenden(["methods", "--json"], { env, host });
    expect(outcome.code).toBe(69);
    return errorOf(outcome).message;
  };

  test("names what happened over IPv4 and over IPv6", async () => {
    const port = await closedPort();
    expect(await message(port, ["127.0.0.1", withoutRoute])).toBe(
      `Cannot connect to the API at ${name}:${port}: refused over IPv4, no route over IPv6.`,
    );
  });

  test("does not say refused if no port refused", async () => {
    const found = await message(443, ["224.0.0.1", withoutRoute]);
    expect(found).toContain("no route over IPv4 and IPv6");
    expect(found).not.toContain("refused");
    expect(await message(443, [withoutRoute])).not.toContain("refused");
  });
});
