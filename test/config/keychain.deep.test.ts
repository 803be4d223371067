import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { built } from "../support/lenden.ts";
import { openSecretService, secretServiceTest } from "./keychains.ts";
import { key, secret, url, verifyLine } from "./setup.ts";

const addLine = ["add", "shop", "--key-stdin", "--secret-stdin", "--base-url", url];

describe("the real keychain of this machine", () => {
  const add = (folder: string, env: Record<string, string>, ...more: string[]) =>
    built(["profile", ...addLine, "--keychain", ...more], {
      env: { ...env, LENDEN_CONFIG_DIR: folder },
      stdin: `${key}\n${secret}\n`,
    });

  secretServiceTest(
    "stores, returns, replaces and removes; locked, it returns nothing",
    async () => {
      const [folder, home] = [scratchFolder(), scratchFolder()];
      const open = await openSecretService(home, "a password");
      const run = (line: string[], env = open.env) =>
        built(line, { env: { ...env, LENDEN_CONFIG_DIR: folder } });
      expect(await add(folder, open.env)).toMatchObject({ code: 0 });
      expect(await add(folder, open.env, "--replace")).toMatchObject({ code: 0 });
      expect(await run(verifyLine())).toMatchObject({ code: 0 });

      const locked = await openSecretService(home);
      const rejected = await run(verifyLine(), locked.env);
      expect(rejected).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("Unlock the keychain"),
      });
      expect(await add(scratchFolder(), locked.env)).toMatchObject({ code: 4, stdout: "" });

      expect(await run(["profile", "remove", "shop"])).toMatchObject({ code: 0 });
      expect(readdirSync(folder)).not.toContain("profiles.json.old");
    },
  );

  test("is required if it does not exist: exit 4, and nothing is stored", async () => {
    const folder = scratchFolder();
    const bus = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" };
    expect(await add(folder, bus)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("Cannot reach a keychain"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
