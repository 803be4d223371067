import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { basePath } from "../../src/api/contract/index.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { misbehave } from "../http/misbehaving.ts";
import { lenden, scratchFolder } from "../run.ts";
import { doctor, envOf } from "./running.ts";

test.each([
  ["v20.18.3", "failed"],
  ["v18.20.0", "failed"],
  ["v20.19.0", "passed"],
  ["v24.1.0", "passed"],
])("Node %s has %s", async (nodeVersion, state) => {
  const { of, code } = await doctor({}, { host: { nodeVersion } });
  expect(of.node).toMatchObject({ state, says: expect.stringContaining(nodeVersion) });
  expect(code).toBe(1);
});

describe("folders and files", () => {
  const place = () => {
    const folder = scratchFolder();
    const [config, data] = [join(folder, "config"), join(folder, "data")];
    for (const one of [config, data]) mkdirSync(one, { mode: 0o700 });
    return { config, data, env: { LENDEN_CONFIG_DIR: config, LENDEN_DATA_DIR: data } };
  };
  const both = [
    ["config", "profiles.json"],
    ["data", "ledger.db"],
  ] as const;

  test("those that are not there yet are no fault, and are not made", async () => {
    const { env, config, data } = place();
    for (const folder of [config, data]) rmSync(folder, { recursive: true });
    const { of } = await doctor(env);
    for (const [check] of both)
      expect(of[check]).toMatchObject({ state: "passed", says: expect.stringContaining("made") });
    expect(() => rmSync(data)).toThrow("ENOENT");
  });

  test.each(both)(
    "%s: a file that others may read fails, and says what to type",
    async (check, name) => {
      const { env, ...folders } = place();
      const file = join(folders[check], name);
      writeFileSync(file, check === "config" ? '{"version":1,"profiles":{}}' : "", { mode: 0o600 });
      expect((await doctor(env)).of[check]?.state).toBe("passed");
      chmodSync(file, 0o644);
      const { of, code } = await doctor(env);
      expect(of[check]).toMatchObject({
        state: "failed",
        says: expect.stringContaining("mode 644"),
        todo: expect.stringContaining(`chmod 600 '${file}'`),
      });
      expect(code).toBe(1);
    },
  );

  test.each(both)("%s: a folder that others may look into is a warning", async (check) => {
    const { env, ...folders } = place();
    chmodSync(folders[check], 0o755);
    const { of } = await doctor(env);
    expect(of[check]).toMatchObject({
      state: "warning",
      todo: `chmod 700 '${folders[check]}'`,
    });
    const windows = await doctor(env, { host: { platform: "win32" } });
    expect(windows.of[check]?.state).toBe("passed");
  });

  test.each(both)(
    "%s: a link in the place of the folder or the file fails",
    async (check, name) => {
      const { env, ...folders } = place();
      symlinkSync("/dev/null", join(folders[check], name));
      expect((await doctor(env)).of[check]?.state).toBe("failed");
      rmSync(folders[check], { recursive: true });
      symlinkSync(scratchFolder(), folders[check]);
      expect((await doctor(env)).of[check]).toMatchObject({
        state: "failed",
        says: expect.stringContaining("is a link"),
      });
    },
  );
});

describe("the ledger", () => {
  /** A ledger with one payment in it, of which nobody knows whether it was made. */
  const withDoubt = async () => {
    const service = await misbehave(() => ({ do: "close" }));
    const env = { ...envOf(service.baseUrl), LENDEN_CONFIG_DIR: scratchFolder() };
    const line = ["pay", "create", "--amount", "5", "--description", "x", "--method-id", "m"];
    expect((await lenden(line, { env })).code).toBe(75);
    return { env, file: join(env.LENDEN_CONFIG_DIR, "data", "ledger.db") };
  };

  test("one with something uncertain warns, and is settled with the command it names", async () => {
    const { env } = await withDoubt();
    expect((await doctor(env)).of.ledger).toMatchObject({
      state: "warning",
      says: expect.stringContaining("the outcome of 1 operation is unknown"),
      todo: expect.stringContaining("lenden ledger resolve"),
    });
    const settled = await lenden(["ledger", "resolve", "@last", "--not-created"], { env });
    expect(settled.code).toBe(0);
    expect((await doctor(env)).of.ledger).toMatchObject({
      state: "passed",
      says: expect.stringMatching(/^its file is whole \(0\.\d MiB\)/),
    });
  });

  test("one whose pages are lost fails, and nothing else is kept from being looked at", async () => {
    const { env, file } = await withDoubt();
    const database = await openDatabase(file);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    truncateSync(file, 8192);
    const { of, code } = await doctor(env);
    expect(of.ledger).toMatchObject({ state: "failed", todo: expect.any(String) });
    expect(code).toBe(1);
    expect(of.connection?.state).toBe("passed");
  });

  test("one that is no database fails", async () => {
    const { env, file } = await withDoubt();
    for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
    writeFileSync(file, "this is no database, however long it may be ".repeat(99), { mode: 0o600 });
    expect((await doctor(env)).of.ledger).toMatchObject({
      state: "failed",
      says: expect.stringContaining("cannot be opened as a database"),
    });
  });
});

describe("certificates", () => {
  test("NODE_EXTRA_CA_CERTS: a file that is missing, or holds none, fails", async () => {
    const file = join(scratchFolder(), "authority.pem");
    const stateOf = async () => (await doctor({ NODE_EXTRA_CA_CERTS: file })).of.authorities;
    expect(await stateOf()).toMatchObject({
      state: "failed",
      says: expect.stringContaining("read"),
    });
    writeFileSync(file, "nothing");
    expect(await stateOf()).toMatchObject({
      state: "failed",
      says: expect.stringContaining("holds no certificate"),
    });
    expect((await doctor()).of.authorities?.state).toBe("passed");
  });

  test("NODE_TLS_REJECT_UNAUTHORIZED=0 is a warning", async () => {
    const { of } = await doctor({ NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    expect(of.verification?.state).toBe("warning");
    const checked = await doctor({ NODE_TLS_REJECT_UNAUTHORIZED: "1" });
    expect(checked.of.verification?.state).toBe("passed");
  });
});

test("the base path is what lenden adds, so that the address shown is the one that is used", async () => {
  const { of } = await doctor(envOf(`http://127.0.0.1:1${basePath}`));
  expect(of["base-url"]?.says).toBe(`http://127.0.0.1:1${basePath} (from LENDEN_BASE_URL)`);
});
