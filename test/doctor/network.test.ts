import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { proxySettings } from "../../src/api/proxy.ts";
import { certificateOf } from "../../src/doctor/certificate.ts";
import { routeTo } from "../../src/doctor/route.ts";
import { noProxy, transport } from "../http/answering.ts";
import { type Certificates, makeCertificates } from "../http/certificates.ts";
import { connectProxy } from "../http/connect-proxy.ts";
import { closedPort, misbehave, success } from "../http/misbehaving.ts";
import { trustAuthority } from "../http/trust.ts";
import { builtDoctor, doctor, envOf } from "./running.ts";

const methods = [{ id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" }];
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});

/** A service behind TLS, and an environment that goes to it and trusts its authority. */
async function secured(tls: { key: string; cert: string } = certificates) {
  const service = await misbehave(() => success(methods), { tls });
  const env = {
    ...envOf(`https://localhost:${service.port}`),
    NODE_EXTRA_CA_CERTS: certificates.authorityFile,
  };
  return { service, env };
}

test("who is not on this machine is reminded of the whitelist", async () => {
  const away = await doctor(envOf("https://nowhere.invalid"));
  const todo = expect.stringContaining("whitelist of the merchant dashboard");
  expect(away.of.whitelist).toMatchObject({ state: "skipped", todo });
  const here = await doctor(envOf("http://127.0.0.1:1"));
  expect(here.of.whitelist).toMatchObject({ state: "skipped", todo: null });
});

describe("names and connections", () => {
  test("a name that there is not fails, and what needs it is skipped", async () => {
    const { of, code } = await doctor(envOf("https://nowhere.invalid"));
    expect(of.name).toMatchObject({
      state: "failed",
      says: expect.stringMatching(/nowhere\.invalid failed \(E/),
    });
    for (const check of ["connection", "certificate", "access", "clock"])
      expect(of[check]?.state).toBe("skipped");
    expect(code).toBe(1);
  });

  test("a look-up that hangs is given up", async () => {
    const lookup = { program: "sleep", args: ["60"] };
    const { of } = await doctor(envOf("https://shop.example"), { host: { lookup } });
    expect(of.name?.says).toBe("Looking up shop.example took more than 4 s.");
  });

  test("a port where nobody listens fails", async () => {
    const port = await closedPort();
    const { of } = await doctor(envOf(`http://127.0.0.1:${port}`));
    expect(of.connection).toMatchObject({
      state: "failed",
      says: expect.stringContaining("ECONNREFUSED"),
      todo: `To start the local sandbox, run 'lenden sandbox start --port ${port}'.`,
    });
  });

  test("a host that takes the connection and says nothing of TLS fails", async () => {
    const service = await misbehave(() => success(methods), { onConnect: "close" });
    const { of } = await doctor(envOf(`https://127.0.0.1:${service.port}`));
    expect(of.connection?.state).toBe("failed");
  });
});

describe("the certificate", () => {
  test("one of a known authority passes, and the key is asked about", async () => {
    const { env, service } = await secured();
    onTestFinished(trustAuthority(certificates.authorityFile));
    const { of, code } = await doctor(env);
    expect(of.name).toMatchObject({ state: "passed" });
    expect(of.connection?.says).toMatch(/^localhost:\d+ takes connections \(TLSv1\.[23]\)$/);
    expect(of.certificate).toMatchObject({
      state: "warning",
      says: expect.stringMatching(/1 more day$/),
    });
    expect(of.access?.state).toBe("passed");
    expect(service.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /payment/methods",
    ]);
    expect(code).toBe(0);
  });

  test.each([
    ["of nobody whom this machine knows", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "NODE_EXTRA_CA_CERTS"],
    ["for another name", "ERR_TLS_CERT_ALTNAME_INVALID", "base URL"],
    ["that has ended", "CERT_HAS_EXPIRED", "date"],
  ])("one %s fails, and nothing is sent", async (what, code, todo) => {
    const { expired, otherName } = certificates;
    const used = { "for another name": otherName, "that has ended": expired }[what];
    const { env, service } = await secured(used ?? certificates);
    if (used) onTestFinished(trustAuthority(certificates.authorityFile));
    const { of } = await doctor(used ? env : { ...env, NODE_EXTRA_CA_CERTS: undefined });
    expect(of.certificate).toMatchObject({
      state: "failed",
      says: expect.stringContaining(code),
      todo: expect.stringContaining(todo),
    });
    expect(of.access?.state).toBe("skipped");
    expect(service.asked).toEqual([]);
  });

  test.each([
    [400, "passed", "400 more days"],
    [14, "passed", "14 more days"],
    [13, "warning", "13 more days"],
    [0, "warning", "0 more days"],
  ])("one that ends in %d days has %s", (days, state, says) => {
    const nowMs = Date.parse("2026-11-20T12:00:00Z");
    const validTo = new Date(nowMs + (days + 0.5) * 86_400_000).toUTCString();
    const connected = {
      verdict: { state: "passed", says: "", todo: null },
      isOpen: true,
      certificate: { fault: undefined, validTo },
    } as const;
    const verdict = certificateOf(connected, nowMs);
    expect(verdict).toMatchObject({ state, says: expect.stringContaining(says) });
  });
});

describe("a proxy", () => {
  test("is gone through, for the certificate and for the key, and nobody is told its password", async () => {
    const { service, env } = await secured();
    const proxy = await connectProxy(service.port);
    const HTTPS_PROXY = proxy.url.replace("://", "://merchant:canary-of-the-proxy@");
    const { of, code, outcome } = await builtDoctor({
      ...env,
      LENDEN_BASE_URL: "https://service.test",
      HTTPS_PROXY,
    });
    expect(of.proxy).toMatchObject({
      state: "passed",
      says: `${proxy.url}, with a user and a password`,
    });
    expect(of.connection?.says).toContain("through the proxy, TLSv1.");
    expect(of.certificate?.state).toBe("warning");
    expect(of.access?.state).toBe("passed");
    expect(proxy.asked).toEqual(["CONNECT service.test:443", "CONNECT service.test:443"]);
    const basic = Buffer.from("merchant:canary-of-the-proxy").toString("base64");
    expect(proxy.credentials).toEqual([`Basic ${basic}`, `Basic ${basic}`]);
    expect(outcome.stdout + outcome.stderr).not.toMatch(/canary|merchant:/);
    expect(code).toBe(0);
  });

  test("that refuses fails the connection, and says with what", async () => {
    const proxy = await connectProxy(1, { answer: "407 Proxy Authentication Required" });
    const { of } = await doctor({ ...envOf("https://service.test"), HTTPS_PROXY: proxy.url });
    expect(of.connection).toMatchObject({
      state: "failed",
      says: expect.stringContaining("the proxy answered 407"),
      todo: expect.stringContaining("password"),
    });
  });

  test("that is no address fails, and is not repeated", async () => {
    const { of, outcome } = await doctor({
      ...envOf("https://service.test"),
      HTTPS_PROXY: "merchant:canary@proxy",
    });
    expect(of.proxy?.state).toBe("failed");
    expect(outcome.stdout + outcome.stderr).not.toContain("canary");
  });

  test.each([
    "",
    "service.test",
    ".test",
    "*.test",
    "service.test:443",
    "service.test:8443",
    "*",
    "a,*",
    "test",
    "other.example",
  ])("NO_PROXY=%j is read as requests read it", async (NO_PROXY) => {
    const proxy = await connectProxy(1, { answer: "403 No" });
    const env = { HTTPS_PROXY: proxy.url, NO_PROXY };
    const url = new URL("https://service.test/x");
    const request = { method: "GET", url, headers: {}, freshConnection: true } as const;
    const signal = AbortSignal.timeout(5_000);
    await transport({ ...noProxy, ...proxySettings(env) }).exchange({ ...request, signal });
    expect(routeTo(url, env).proxy !== undefined).toBe(proxy.asked.length > 0);
  });
});
