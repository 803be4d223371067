import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { networkFileSystemOf } from "../../src/platform/file-system.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { openMerchant, openProductionMerchant, payoutOf } from "../support/merchant.ts";

function mount(at: string, type: string): string {
  return `40 30 0:50 / ${at} rw,relatime shared:1 - ${type} server:/export rw`;
}

test("a directory is on the file system of the innermost, latest mount, whatever links lead there", () => {
  const folder = scratchFolder();
  const [shared, link] = [join(folder, "two words"), join(folder, "link")];
  mkdirSync(shared);
  symlinkSync(shared, link);
  const escaped = shared.replace(" ", "\\040");
  const root = mount("/", "ext4");
  const typeOf = (path: string, ...mounts: string[]) =>
    networkFileSystemOf(path, [root, ...mounts, ""].join("\n"));
  expect(typeOf(link, mount(escaped, "nfs4"))).toBe("nfs4");
  expect(typeOf(join(link, "new", "data"), mount(escaped, "cifs"))).toBe("cifs");
  expect(typeOf(folder, mount(escaped, "nfs4"))).toBeUndefined();
  expect(typeOf(`${shared}er`, mount(escaped, "nfs4"))).toBeUndefined();
  expect(typeOf(shared, mount(folder, "fuse.sshfs"), mount(escaped, "xfs"))).toBeUndefined();
  expect(typeOf(shared, mount(folder, "xfs"), mount(folder, "fuse.sshfs"))).toBe("fuse.sshfs");
  expect(networkFileSystemOf(shared, "")).toBeUndefined();
});

test("a ledger on a network file system is rejected before anything is sent, and can be moved", async () => {
  const merchant = await openMerchant();
  await merchant.lenden(payoutOf("A"));
  const host = { mounts: () => mount(merchant.dataFolder, "nfs4") };
  const env = merchant.env;
  for (const line of [payoutOf("B"), ["ledger", "list"], ["ledger", "check"], ["doctor"]]) {
    const { code, stdout, stderr } = await lenden(line, { env, host });
    expect([line, code]).toEqual([line, 1]);
    expect(stdout + stderr).toContain("network file system (nfs4)");
    expect(stdout + stderr).toContain("lenden ledger backup <file>");
  }
  expect(await merchant.books("payouts")).toHaveLength(1);
  const [file, data] = [join(scratchFolder(), "copy.db"), join(scratchFolder(), "data")];
  expect((await lenden(["ledger", "backup", file], { env, host })).code).toBe(0);
  const moved = { env: { ...env, LENDEN_DATA_DIR: data }, host };
  expect((await lenden(["ledger", "restore", file, "--yes"], moved)).code).toBe(0);
  const accept = ["ledger", "check", "--accept", "--yes", "--accept-hash"];
  const { newest } = JSON.parse((await lenden(["ledger", "check", "--json"], moved)).stdout);
  expect((await lenden([...accept, newest.hash], moved)).code).toBe(0);
  expect((await lenden(["ledger", "show", "A"], moved)).code).toBe(0);
});

test("production sends nothing with a ledger that is lost with its container", async () => {
  const { env, books } = await openProductionMerchant();
  const layer = { env, host: { mounts: () => mount("/", "overlay") } };
  const denied = await lenden([...payoutOf("A"), "--yes", "--again", "--json"], layer);
  expect([denied.code, errorOf(denied)]).toMatchObject([
    1,
    { reason: "ledger.not-persistent", effect: "nothing-sent" },
  ]);
  expect(await books("payouts")).toEqual([]);
  expect((await lenden(["payout", "list"], layer)).code).toBe(0);
  const doctor = await lenden(["doctor", "--json"], layer);
  expect([doctor.code, JSON.parse(doctor.stdout)]).toMatchObject([
    1,
    expect.arrayContaining([
      expect.objectContaining({ state: "failed", reason: "ledger.not-persistent" }),
    ]),
  ]);
  const volume = `${mount("/", "overlay")}\n${mount(env.LENDEN_DATA_DIR ?? "", "ext4")}`;
  const kept = { env, host: { mounts: () => volume } };
  expect(await lenden([...payoutOf("A"), "--yes"], kept)).toMatchObject({ code: 0 });
});

test("a sandbox account may use a ledger that is lost with its container, and doctor warns", async () => {
  const merchant = await openMerchant();
  const layer = { env: merchant.env, host: { mounts: () => mount("/", "overlay") } };
  expect(await lenden(payoutOf("A"), layer)).toMatchObject({ code: 0 });
  const { stdout } = await lenden(["doctor", "--json"], layer);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ check: "ledger-storage", state: "warning" }),
  );
});
