import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failure } from "../operations/scripted.ts";
import { scratchFolder } from "../support/helpers.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { startService } from "../support/server.ts";
import { checkPath, examined, fileOf } from "./files.ts";

const account = testAccount();

const good = "amount,to,method\n5,01712345678,bkash\n";
const folder = scratchFolder();
const at = (name: string) => join(folder, name);

mkdirSync(at("folder.csv"));
execFileSync("mkfifo", [at("pipe.csv")]);
symlinkSync("loop.csv", at("loop.csv"));
symlinkSync("nowhere.csv", at("broken.csv"));
writeFileSync(at("good.csv"), good);

test.each([
  ["a missing file", at("missing.csv"), "does not exist"],
  ["a folder", at("folder.csv"), "is a directory"],
  ["a pipe", at("pipe.csv"), "is not a regular file"],
  ["a device", "/dev/null", "is not a regular file"],
  ["a link to nothing", at("broken.csv"), "does not exist"],
  ["a link to itself", at("loop.csv"), "ELOOP"],
  ["something below a file", at("good.csv/payroll.csv"), "(ENOTDIR)"],
  ["a name that is too long", at("x".repeat(300)), "ENAMETOOLONG"],
  ["a file that gives no bytes", "/proc/self/mem", "EIO"],
])("rejects %s with a sentence", async (_, path, says) => {
  for (const command of ["check", "send"]) {
    const { code, stdout, stderr } = await account.run(["payout", "batch", command, path]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  }
});

test.each([
  ["check", "does not exist"],
  ["send", "The text is empty"],
])("rejects an empty text in %s", async (command, says) => {
  const { code, stderr } = await account.run(["payout", "batch", command, ""]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
});

test("rejects a file without read permission", async () => {
  const path = fileOf(good);
  chmodSync(path, 0o000);
  const unprivilegedUser = 65534;
  const isRoot = process.getuid?.() === 0; // root can read everything, so the test runs as another user
  if (isRoot) process.seteuid?.(unprivilegedUser);
  try {
    expect(await checkPath(account.run, path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("(EACCES)"),
    });
  } finally {
    if (isRoot) process.seteuid?.("root");
  }
});

test("a link to a file is that file", async () => {
  symlinkSync("good.csv", at("symbolic.csv"));
  linkSync(at("good.csv"), at("hard.csv"));
  for (const name of ["symbolic.csv", "hard.csv"])
    expect(await checkPath(account.run, at(name))).toMatchObject({ code: 0, rows: 1 });
});

test("a batch has the rows of the file as it was read, whatever the file becomes", async () => {
  const path = fileOf(good);
  const sent: unknown[] = [];
  const { env } = await startService(({ method, body }) => {
    // The methods are requested at the first row.
    writeFileSync(path, good.replace("5,", "6,"));
    if (method === "POST") sent.push(body);
    return { data: [{ id: "bkash", providerName: "bKash", codeName: "bkash" }] };
  });
  await lenden(["payout", "batch", "send", path], { env, host: jumpingHost() });
  expect(JSON.stringify(sent)).toMatch(/amount\W+5,/);
});

test("P22: a stop ends the reading of a file, and nothing is planned", async () => {
  const rows = Array.from(
    { length: 50_000 },
    (_, row) => `5,017${String(10_000_000 + row)},bkash\n`,
  );
  writeFileSync(at("long.csv"), `amount,to,method\n${rows.join("")}`);
  let looks = 0;
  const isStopping = () => {
    looks += 1;
    return looks > 2;
  };
  const reading = examined(at("long.csv"), ",", {}, { isStopping });
  expect((await failure(reading)).kind).toBe("interrupted");
  expect(looks).toBeLessThan(5);
});
