import { createServer } from "node:http";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { lenden, startBuilt } from "../support/lenden.ts";
import { answering, closedPort, listen, type Reply, serve, success } from "../support/server.ts";
import {
  type Certificates,
  connectProxy,
  makeCertificates,
  trustAuthority,
} from "../support/tls.ts";
import { doctor, envOf } from "./running.ts";

const methods = [{ id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" }];
const body = JSON.stringify({ success: true, data: methods });
const text = (part: string) => expect.stringContaining(part);

let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});

/** An API behind TLS whose authority this process trusts. */
async function secureApi(tls: { key: string; cert: string } = certificates) {
  const api = await serve(() => success(methods), { tls });
  return { api, env: envOf(`https://localhost:${api.port}`) };
}

test("makes one request, which changes nothing", async () => {
  const { api, env } = await secureApi();
  onTestFinished(trustAuthority(certificates.authorityFile));
  const { of, code, withState } = await doctor(env);
  expect({ code, failed: withState("failed") }).toEqual({ code: 0, failed: [] });
  expect(of.connection?.message).toBe(`localhost:${api.port} responded.`);
  expect(of.access?.message).toBe("The API accepts the key. Payment methods: 1.");
  expect(api.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /payment/methods",
  ]);
});

describe("advice by the reason of the failure", () => {
  test("an unknown name", async () => {
    const { of, code } = await doctor(envOf("https://nowhere.invalid"));
    expect(of.connection).toMatchObject({
      state: "failed",
      message: expect.stringMatching(/nowhere\.invalid: its name cannot be resolved \(E/),
      hint: text("DNS"),
    });
    expect([of.access?.state, of.clock?.state, code]).toEqual(["skipped", "skipped", 1]);
  });

  test("a refused connection, and how to start the local sandbox there", async () => {
    const port = await closedPort();
    const { of } = await doctor(envOf(`http://127.0.0.1:${port}`));
    expect(of.connection).toMatchObject({ state: "failed", message: text("(ECONNREFUSED)") });
    expect(of.connection?.hint).toContain(`'lenden sandbox start --port ${port}'`);
  });

  test.each([
    ["untrusted", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "NODE_EXTRA_CA_CERTS"],
    ["otherName", "ERR_TLS_CERT_ALTNAME_INVALID", "base URL"],
    ["expired", "CERT_HAS_EXPIRED", "date of this machine"],
  ] as const)("an %s certificate, and nothing is sent", async (which, code, hint) => {
    const used = which === "untrusted" ? certificates : certificates[which];
    const { api, env } = await secureApi(used);
    if (which !== "untrusted") onTestFinished(trustAuthority(certificates.authorityFile));
    const { of } = await doctor(env);
    expect(of.connection).toMatchObject({ state: "failed", message: text(code), hint: text(hint) });
    expect(of.access?.state).toBe("skipped");
    expect(api.asked).toEqual([]);
  });

  test("no response, within --timeout", async () => {
    const silent = await serve(() => ({ do: "silence" }));
    const line = ["doctor", "--json", "--timeout", "300ms"];
    const { code, stdout } = await lenden(line, { env: envOf(silent.baseUrl) });
    const findings: unknown[] = JSON.parse(stdout);
    const connection = { check: "connection", state: "failed" };
    expect(findings).toContainEqual(expect.objectContaining(connection));
    expect(code).toBe(1);
  });

  test("a proxy that rejects the connection", async () => {
    const proxy = await connectProxy(1, "407 Proxy Authentication Required");
    const HTTPS_PROXY = proxy.url.replace("://", "://me:canary@");
    const { of, outcome } = await doctor({ ...envOf("https://service.test"), HTTPS_PROXY });
    expect(of.connection).toMatchObject({ state: "failed" });
    expect(of.connection?.hint).toContain(`the proxy 127.0.0.1:${proxy.port}`);
    expect(outcome.stdout + outcome.stderr).not.toContain("canary");
  });

  test.each([401, 403])("a key that is rejected with %i", async (status) => {
    const { baseUrl } = await answering(() => ({ status, body: '{"message":"no such key"}' }));
    const { of, code } = await doctor(envOf(baseUrl));
    expect(of.connection?.state).toBe("passed");
    expect(of.access).toMatchObject({
      state: "failed",
      message: text(`(HTTP ${status}): no such key`),
      hint: text("allowlist"),
    });
    expect(code).toBe(1);
  });

  test.each<[string, Reply]>([
    ["a server error", { status: 500, body: "{}" }],
    ["a page of something else", { type: "text/html", body: "<title>Welcome</title>" }],
    ["a rejection with status 200", { body: '{"success":false,"message":"not now"}' }],
    ["a redirect", { status: 302, headers: { location: "https://elsewhere.example" }, body: "" }],
  ])("%s", async (_, reply) => {
    const api = await answering(() => reply);
    const { of } = await doctor(envOf(api.baseUrl));
    expect(of.access).toMatchObject({ state: "failed", hint: expect.any(String) });
    expect(api.asked).toHaveLength(1);
  });
});

test.each([
  [0, "passed", "agrees"],
  [50, "passed", "50 s behind"],
  [62, "warning", "62 s behind"],
  [-62, "warning", "62 s ahead of"],
  [239, "warning", "behind"],
  [242, "failed", "behind"],
  [-242, "failed", "ahead of"],
])("an API clock %d s ahead: %s", async (aheadSeconds, state, message) => {
  const nowMs = Date.parse("2026-11-20T12:00:00Z");
  const date = new Date(nowMs + aheadSeconds * 1_000).toUTCString();
  const { baseUrl } = await answering(() => ({ headers: { date }, body }));
  const { of } = await doctor(envOf(baseUrl), { host: { now: () => nowMs } });
  expect(of.clock).toMatchObject({ state, message: text(message) });
});

test("shows a finding as soon as it is known", async () => {
  let respond = (): void => {};
  const server = createServer((_, response) => {
    respond = () => void response.end('{"success":true,"data":[]}');
    if (seen.includes("base-url")) respond();
  });
  let seen = "";
  const port = await listen(server);
  const child = startBuilt(["doctor"], envOf(`http://127.0.0.1:${port}`));
  child.stdout.on("data", (chunk) => {
    seen += String(chunk);
    if (seen.includes("base-url")) respond();
  });
  // The API responds only after the findings before its response are on the screen.
  const code = await new Promise((resolve) => child.on("close", resolve));
  server.close();
  expect(code).toBe(0);
  expect(seen).toMatch(/^passed {4}clock/m);
});
