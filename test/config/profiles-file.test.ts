import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { runs, scratchFolder, until } from "../support/helpers.ts";
import { built, ended, lenden, startBuilt } from "../support/lenden.ts";
import { canMount, mounted } from "../support/small-disk.ts";
import { tool } from "../tool.js";
import { key, place, url } from "./setup.ts";

const { lock, isLocked } = await openDatabase(":memory:");
const lockName = ".profiles.lock";
const modes = (...paths: string[]) =>
  paths.map((path) => (lstatSync(path).mode & 0o777).toString(8));

describe("the file of the profiles", () => {
  test.each(["000", "077"])(
    "has mode 0600 in a directory of mode 0700 under umask %s, new and existing",
    async (umask) => {
      const folder = join(scratchFolder(), "deep", "lenden");
      const { file, env } = place(folder);
      const run = (name: string) => {
        const line = [...tool, "profile", "add", name, "--key-stdin", "--base-url", url];
        return spawnSync("sh", ["-c", `umask ${umask}; exec "$@"`, "sh", ...line], {
          env: { ...env, PATH: process.env.PATH },
          input: key,
        }).status;
      };
      expect(run("first")).toBe(0);
      expect(modes(file, folder, join(folder, lockName))).toEqual(["600", "700", "600"]);
      chmodSync(file, 0o644);
      chmodSync(folder, 0o755);
      expect(run("second")).toBe(0);
      expect(modes(file, folder)).toEqual(["600", "700"]);
      expect(readdirSync(folder)).toEqual([lockName, "profiles.json"]);
    },
  );

  test("loses the access of others when it is read", async () => {
    const { file, add, profile } = place();
    await add("shop");
    chmodSync(file, 0o666);
    await profile(["list"]);
    expect(modes(file)).toEqual(["600"]);
  });

  test.each([["list"], ["show"], ["use", "shop"], ["remove", "shop"]])(
    "is rejected if it is a symbolic link: profile %s",
    async (...line) => {
      const { file, add, profile, folder } = place();
      await add("shop");
      const target = join(folder, "elsewhere.json");
      renameSync(file, target);
      symlinkSync(target, file);
      const before = readFileSync(target, "utf8");
      const { code, stderr } = await profile([...line, "--json"].filter(Boolean));
      expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
        code: 4,
        error: { reason: "profiles.link" },
      });
      expect(readFileSync(target, "utf8")).toBe(before);
    },
  );

  test("is rejected in a directory that is a symbolic link", async () => {
    const real = place();
    await real.add("shop");
    const link = join(scratchFolder(), "link");
    symlinkSync(real.folder, link);
    const before = readFileSync(real.file, "utf8");
    expect((await place(link).profile(["list"])).code).toBe(4);
    expect((await place(link).add("other")).code).toBe(4);
    expect(readFileSync(real.file, "utf8")).toBe(before);
  });

  test.each([
    ["cut off", (text: string) => text.slice(0, -20)],
    ["empty", () => ""],
    ["not JSON", () => `${key}\n`],
    ["of another shape", () => JSON.stringify({ version: 1, profiles: { shop: { apiKey: key } } })],
    ["of a later version", (text: string) => text.replace('"version": 1', '"version": 2')],
  ])("is neither overwritten nor shown if it is damaged: %s", async (_, damage) => {
    const { file, add, profile, env } = place();
    await add("shop");
    const damaged = damage(readFileSync(file, "utf8").replaceAll("\t", " "));
    writeFileSync(file, damaged);
    const debug = lenden(["methods"], { env: { ...env, LENDEN_DEBUG: "1" } });
    const outcomes = [profile(["list"]), profile(["use", "shop"]), add("other"), debug];
    for (const { code, stdout, stderr } of await Promise.all(outcomes)) {
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain("damaged");
      expect(stderr).not.toContain("ABCDEFGH");
    }
    expect(readFileSync(file, "utf8")).toBe(damaged);
  });
});

describe("a disk that cannot store the profiles", () => {
  test.skipIf(!canMount)("keeps the earlier profiles if it is full", async () => {
    const disk = mounted("64k");
    const { file, add, profile, stored } = place(join(disk, "lenden"));
    expect((await add("shop")).code).toBe(0);
    const before = readFileSync(file, "utf8");
    const long = ["--redirect-url", `https://shop.example/${"x".repeat(12_000)}`];
    // Full, or with so few pages left that the new file is created and cut off.
    for (const pages of [0, 1, 2, 3]) {
      fillBut(disk, pages);
      const { code, stderr } = await add(`more-${pages}`, long);
      expect(code).toBe(1);
      expect(stderr).not.toContain("ABCDEFGH");
      expect(readFileSync(file, "utf8")).toBe(before);
    }
    expect((await profile(["list", "-q"])).stdout).toBe("shop\n");
    rmSync(join(disk, "filler"));
    expect((await add("other")).code).toBe(0);
    expect(Object.keys(stored().profiles)).toEqual(["shop", "other"]);
  });

  test.skipIf(!canMount)("keeps no damaged file if it was full from the start", async () => {
    const disk = mounted("64k");
    const { add } = place(join(disk, "lenden"));
    mkdirSync(join(disk, "lenden"));
    fillBut(disk, 1);
    const long = `https://shop.example/${"x".repeat(8_000)}`;
    expect((await add("shop", ["--redirect-url", long])).code).toBe(1);
    rmSync(join(disk, "filler"));
    expect(await add("shop")).toMatchObject({ code: 0, stderr: "" });
  });

  test.skipIf(!canMount)("is named if it is read-only", async () => {
    const disk = mounted("64k");
    const { add, profile } = place(join(disk, "lenden"));
    expect((await add("shop")).code).toBe(0);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    const { code, stderr } = await profile(["set", "confirm-above", "5"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Cannot write .*profiles\.json: .*\n.*space on its disk/);
  });
});

describe("several writers at once", () => {
  test("keep all profiles that many processes add", async () => {
    const { env, folder, stored } = place();
    const names = Array.from({ length: runs(2, 20) }, (_, index) => `shop-${index}`);
    const line = ["--key-stdin", "--base-url", url, "-q"];
    const outcomes = await Promise.all(
      names.map((name) => built(["profile", "add", name, ...line], { env, stdin: key })),
    );
    expect(outcomes.map(({ code, stdout }) => `${code} ${stdout}`)).toEqual(
      names.map((name) => `0 ${name}\n`),
    );
    expect(Object.keys(stored().profiles).sort()).toEqual(names.toSorted());
    expect(readdirSync(folder)).toEqual([lockName, "profiles.json"]);
  });

  test("end with exit 7 and change nothing while another process holds the lock", async () => {
    const { folder, file, add, env } = place();
    await add("shop");
    const before = readFileSync(file, "utf8");
    const unlock = lock(join(folder, lockName));
    let waitedMs = 0;
    const { code, stderr } = await lenden(["profile", "set", "method", "bkash", "--json"], {
      env,
      host: {
        sleep: async (ms) => {
          waitedMs += ms;
        },
      },
    });
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 7,
      error: { reason: "profiles.locked" },
    });
    expect(waitedMs).toBeGreaterThan(10_000);
    expect(readFileSync(file, "utf8")).toBe(before);
    unlock?.();
    expect((await add("other")).code).toBe(0);
  });

  test("get the lock at once from a process that was killed, and not from one that is stopped", async () => {
    const { folder, file, add, stored } = place();
    await add("shop");
    const keyFile = join(folder, "key");
    writeFileSync(keyFile, key, { mode: 0o600 });
    const line = ["profile", "add", "late", "--key-file", keyFile, "--base-url", url];
    const lockFile = join(folder, lockName);
    // A process that ends before it is stopped proves nothing: another one is started.
    for (;;) {
      const child = startBuilt(line, { LENDEN_CONFIG_DIR: folder });
      const end = ended(child);
      await until(() => child.exitCode !== null || isLocked(lockFile));
      child.kill("SIGSTOP");
      const isHeld = child.exitCode === null && isLocked(lockFile);
      const during = isHeld ? await addWithoutWaiting(folder) : undefined;
      child.kill("SIGKILL");
      await end;
      if (!isHeld) continue;
      expect(during?.code).toBe(7);
      expect(JSON.parse(readFileSync(file, "utf8")).profiles).toHaveProperty("shop");
      expect(await add("other")).toMatchObject({ code: 0, stderr: "" });
      expect(Object.keys(stored().profiles)).toEqual(expect.arrayContaining(["shop", "other"]));
      return;
    }
  });
});

function addWithoutWaiting(folder: string) {
  return lenden(["profile", "use", "shop"], {
    env: { LENDEN_CONFIG_DIR: folder },
    host: { sleep: async () => {} },
  });
}

/** Fills a disk except for some pages of 4 KiB. */
function fillBut(folder: string, pagesLeft: number): void {
  const filler = join(folder, "filler");
  for (let size = 64 * 1024; size > 0; size = Math.floor(size / 2)) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size; a smaller one may still fit.
    }
  }
  truncateSync(filler, statSync(filler).size - pagesLeft * 4096);
}

/** Runs lenden as an ordinary user, whom the system does not know by name: as in a container. */
async function asUser(user: number, line: string[], env: Record<string, string>) {
  await lenden(line); // loads its modules, which this user may be unable to read
  process.seteuid?.(user);
  try {
    return await lenden(line, { env });
  } finally {
    process.seteuid?.(0);
  }
}

describe.skipIf(process.getuid?.() !== 0)("a mounted file of profiles", () => {
  const user = 4711;

  /** A file that the user who runs lenden cannot change. */
  async function mountedFile(owner: number, mode: number) {
    const { folder, file, add } = place();
    expect(await add("shop")).toMatchObject({ code: 0 });
    chownSync(file, owner, owner);
    chmodSync(file, mode);
    chmodSync(folder, 0o755);
    return { file, env: { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") } };
  }

  test.each([
    ["belongs to root, and all can read it", 0, 0o644, "mode 0644"],
    ["belongs to root, and all can only read it", 0, 0o444, "mode 0444"],
    ["belongs to the user", user, 0o600, ""],
  ])("that %s is read, with a warning if others can read it", async (_, owner, mode, warns) => {
    const { env, file } = await mountedFile(owner, mode);
    const { code, stdout, stderr } = await asUser(user, ["profile", "list", "-q"], env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "shop\n" });
    if (warns === "") expect(stderr).toBe("");
    else {
      expect(stderr).toContain("All users of this machine can read");
      expect(stderr).toContain(warns);
      const json = await asUser(user, ["methods", "--json", "--timeout", "1ms"], env);
      expect(json.stderr).toContain("profiles.readable-by-all");
    }
    expect(modes(file)).toEqual([mode.toString(8)]);
  });

  test.each([
    ["belongs to another user", 1234, 0o644, "owner user 1234, mode 0644"],
    ["all can write", 0, 0o666, "owner root, mode 0666"],
    ["a group can write", 0, 0o664, "owner root, mode 0664"],
    ["belongs to root alone", 0, 0o600, "owner root, mode 0600"],
  ])("that %s is rejected with owner and mode", async (_, owner, mode, why) => {
    const { env } = await mountedFile(owner, mode);
    const { code, stderr } = await asUser(user, ["methods"], env);
    expect({ code, stderr: stderr.replace(/\s+/g, " ") }).toEqual({
      code: 4,
      stderr: expect.stringContaining(why),
    });
    expect(stderr).not.toContain("ABCDEFGH");
  });

  test("of another user is not read by root either", async () => {
    const { env } = await mountedFile(1234, 0o600);
    const { code, stderr } = await lenden(["methods"], { env });
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining("owner user 1234, mode 0600"),
    });
  });

  test.skipIf(!canMount)("of the user on a read-only disk is read", async () => {
    const disk = mounted("64k");
    const { add, profile, file } = place(join(disk, "lenden"));
    expect((await add("shop")).code).toBe(0);
    chmodSync(file, 0o644);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    const { code, stdout, stderr } = await profile(["list", "-q"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "shop\n" });
    expect(stderr).toContain("mode 0644");
  });
});
