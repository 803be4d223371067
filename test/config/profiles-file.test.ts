import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
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
import { lock } from "proper-lockfile";
import { beforeAll, describe, expect, test } from "vitest";
import { built, lenden, type Outcome, scratchFolder } from "../run.ts";
import { runs } from "../runs.ts";
import { canMount, mounted } from "../small-disk.ts";
import { tool } from "../tool.js";
import { key, place, url } from "./profile-place.ts";

/** A lock that somebody else holds takes the tool some 13 seconds to give up on: begun at once. */
let whileLocked: Promise<{ outcome: Outcome; before: string; after: string }> | undefined;

/** So is the crowd, which waits for its own lock almost as long. */
const crowd = place();
const crowdNames = Array.from({ length: runs(8, 20) }, (_, index) => `shop-${index}`);
let crowding: Promise<Outcome[]> | undefined;

beforeAll(async () => {
  crowding = Promise.all(
    crowdNames.map((name) =>
      built(["profile", "add", name, "--key-stdin", "--base-url", url, "-q"], {
        env: crowd.env,
        stdin: key,
      }),
    ),
  );
  const { folder, file, add } = place();
  await add("shop");
  const before = readFileSync(file, "utf8");
  const release = await lock(folder, { lockfilePath: join(folder, "profiles.lock") });
  const args = ["profile", "add", "other", "--key-stdin", "--base-url", url, "--json"];
  whileLocked = built(args, { env: { LENDEN_CONFIG_DIR: folder }, stdin: key }).then(
    async (outcome) => {
      await release();
      return { outcome, before, after: readFileSync(file, "utf8") };
    },
  );
});

describe("the file", () => {
  const modes = (...paths: string[]) =>
    paths.map((path) => (lstatSync(path).mode & 0o777).toString(8));

  test.each(["000", "022", "077"])(
    "is 0600 in a folder of 0700 under umask %s, new and existing",
    async (umask) => {
      const folder = join(scratchFolder(), "deep", "lenden");
      const { file, env } = place(folder);
      const run = (name: string) => {
        const script = `umask ${umask}; exec "$@"`;
        const args = ["-c", script, "sh", ...tool, "profile", "add", name];
        return spawnSync("sh", [...args, "--key-stdin", "--base-url", url], {
          env: { ...env, PATH: process.env.PATH },
          input: key,
        }).status;
      };
      expect(run("first")).toBe(0);
      expect(modes(file, folder)).toEqual(["600", "700"]);
      chmodSync(file, 0o644);
      chmodSync(folder, 0o755);
      expect(run("second")).toBe(0);
      expect(modes(file, folder)).toEqual(["600", "700"]);
      expect(readdirSync(folder)).toEqual(["profiles.json"]);
    },
  );

  test("that others may read is mended when it is read", async () => {
    const { file, add, profile } = place();
    await add("shop");
    chmodSync(file, 0o666);
    await profile(["list"]);
    expect(modes(file)).toEqual(["600"]);
  });

  test.each([["list"], ["show"], ["use", "shop"], ["remove", "shop"]])(
    "that is a symbolic link is refused: profile %s",
    async (...line) => {
      const { file, add, profile, folder } = place();
      await add("shop");
      const target = join(folder, "elsewhere.json");
      renameSync(file, target);
      symlinkSync(target, file);
      const before = readFileSync(target, "utf8");
      const { code, stderr } = await profile(line.filter(Boolean));
      expect(code).toBe(4);
      expect(stderr).toContain("is not followed");
      expect(readFileSync(target, "utf8")).toBe(before);
    },
  );

  test.each([["add"], ["list"]])(
    "in a folder that is a symbolic link is refused: profile %s",
    async (command) => {
      const real = place();
      await real.add("shop");
      const link = join(scratchFolder(), "link");
      symlinkSync(real.folder, link);
      const linked = place(link);
      const before = readFileSync(real.file, "utf8");
      const { code } =
        command === "add" ? await linked.add("other") : await linked.profile(["list"]);
      expect(code).toBe(4);
      expect(readFileSync(real.file, "utf8")).toBe(before);
    },
  );

  test.each([
    ["cut off", (text: string) => text.slice(0, -20)],
    ["empty", () => ""],
    ["no JSON", () => `${key}\n`],
    ["of another shape", () => JSON.stringify({ version: 1, profiles: { shop: { apiKey: key } } })],
    ["of a later version", (text: string) => text.replace('"version": 1', '"version": 2')],
    ["null", () => "null"],
  ])("that is damaged (%s) is neither wiped nor shown", async (_, damage) => {
    const { file, add, profile, env } = place();
    await add("shop");
    const damaged = damage(readFileSync(file, "utf8").replaceAll("\t", " "));
    writeFileSync(file, damaged);
    for (const line of [["list"], ["show"], ["remove", "shop"], ["use", "shop"]]) {
      const { code, stdout, stderr } = await profile(line);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain("damaged");
      expect(stderr).not.toContain("ABCDEFGH");
    }
    expect((await add("other")).code).toBe(4);
    const debug = await lenden(["methods"], { env: { ...env, LENDEN_DEBUG: "1" } });
    expect(debug.stderr).not.toContain("ABCDEFGH");
    expect(readFileSync(file, "utf8")).toBe(damaged);
  });

  test.skipIf(!canMount)("that no longer fits the disk stays the old one", async () => {
    const folder = mounted("64k");
    const { file, add, profile, stored } = place(join(folder, "lenden"));
    expect((await add("shop")).code).toBe(0);
    const before = readFileSync(file, "utf8");
    const long = ["--redirect-url", `https://shop.example/${"x".repeat(12_000)}`];
    // Full, and with so few pages left that the new file can be begun, and not ended.
    for (const pages of [0, 1, 2, 3]) {
      fillBut(folder, pages);
      const { code, stderr } = await add(`more-${pages}`, long);
      expect(code).toBe(1);
      expect(stderr).not.toContain("ABCDEFGH");
      expect(readFileSync(file, "utf8")).toBe(before);
    }
    expect((await profile(["list", "-q"])).stdout).toBe("shop\n");
    rmSync(join(folder, "filler"));
    expect((await add("other")).code).toBe(0);
    expect(Object.keys(stored().profiles)).toEqual(["shop", "other"]);
  });

  test.skipIf(!canMount)("that never fitted the disk does not stay as a damaged one", async () => {
    const folder = mounted("64k");
    const { add } = place(join(folder, "lenden"));
    mkdirSync(join(folder, "lenden"));
    // One page is left: the file can be begun, and not ended.
    fillBut(folder, 1);
    const long = `https://shop.example/${"x".repeat(8_000)}`;
    expect((await add("shop", ["--redirect-url", long])).code).toBe(1);
    rmSync(join(folder, "filler"));
    const again = await add("shop");
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
  });

  test.skipIf(!canMount)("on a read-only disk is not said to be another lenden's", async () => {
    const disk = mounted("64k");
    const { add, profile } = place(join(disk, "lenden"));
    expect((await add("shop")).code).toBe(0);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    const { code, stderr } = await profile(["set", "confirm-above", "5"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/could not be written to .*profiles\.json\.\n.*read-only/);
  });

  test("keeps all profiles that many processes add at once", async () => {
    const outcomes = (await crowding) ?? [];
    expect(outcomes.map(({ code, stdout }) => `${code} ${stdout.trim()}`)).toEqual(
      crowdNames.map((name) => `0 ${name}`),
    );
    expect(Object.keys(crowd.stored().profiles).sort()).toEqual(crowdNames.toSorted());
    expect(readdirSync(crowd.folder)).toEqual(["profiles.json"]);
  });

  test("that another lenden is changing is left alone (exit 7)", async () => {
    const { outcome, before, after } = (await whileLocked) ?? { outcome: undefined };
    expect(outcome?.code).toBe(7);
    expect(JSON.parse(outcome?.stderr ?? "")).toMatchObject({ error: { kind: "locked" } });
    expect(after).toBe(before);
  });
});

/** Writes until nothing more goes in, but for some pages of 4 KiB. */
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
