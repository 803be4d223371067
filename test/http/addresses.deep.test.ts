import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { doctor } from "../doctor/running.ts";
import { serve, success } from "../support/server.ts";
import { resolveName, stalledLine, withoutRoute } from "../support/slow-line.ts";
import { makeCertificates, trustAuthority } from "../support/tls.ts";
import { envOf } from "./answering.ts";

test("gives the fifth address two seconds as well, within the ten seconds of the connection", async () => {
  const certificates = makeCertificates();
  onTestFinished(trustAuthority(certificates.authorityFile));
  const api = await serve(() => success([]), { tls: certificates });
  const addresses = [1, 2, 3, 4, 5].map((last) => `127.0.0.${last}`);
  const line = await stalledLine(api.port, addresses);
  const lookedUp = resolveName("service.test", addresses);
  const running = doctor(envOf(`https://service.test:${line.port}`));
  await lookedUp;
  await delay(8_500); // The fifth SYN was lost, too, and is sent again after a second.
  line.resume();
  const { of } = await running;
  expect(of.connection).toMatchObject({ state: "passed" });
});

test.each([
  ["in two seconds, if there is another one", "127.0.0.1", withoutRoute],
  ["in ten seconds, if it is the last one", withoutRoute, "127.0.0.1"],
])("doctor names an address that does not respond %s", async (_, ...addresses) => {
  const { port } = await stalledLine(1);
  resolveName("service.test", addresses);
  const { of } = await doctor(envOf(`https://service.test:${port}`));
  expect(of.connection).toMatchObject({
    state: "failed",
    message: expect.stringContaining("timed out over IPv4"),
    hint: expect.stringContaining("firewall"),
  });
  expect(of.connection?.message).toMatch(/no route over IPv6\b.*\(ETIMEDOUT\)\.$/);
});
