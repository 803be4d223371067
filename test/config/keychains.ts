import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import type { Host } from "../../src/platform/host.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { isOneFile } from "../tool.js";

/** How the fake keychain fails, for all entries and questions or for some. */
export type Mood =
  | { reply: object | string; of?: string; wanted?: string }
  | { hangs: true; of?: string; wanted?: string }
  | { exits: number; of?: string; wanted?: string };

export interface FakeKeychain {
  /** The program that replaces lenden's own. */
  keychain: NonNullable<Host["keychain"]>;
  entries(): Record<string, string>;
  clear(): void;
  feels(mood: Mood): void;
}

/** A keychain in a file, with the questions of the real one. */
export function createFakeKeychain(): FakeKeychain {
  const folder = scratchFolder();
  const [program, file, moodFile] = ["keychain.cjs", "entries.json", "mood.json"].map((name) =>
    join(folder, name),
  );
  if (!program || !file || !moodFile) throw new Error("no names");
  writeFileSync(program, fakeProgram);
  writeFileSync(file, "{}");
  return {
    keychain: { program: process.execPath, args: [program, file, moodFile] },
    entries: () => JSON.parse(readFileSync(file, "utf8")),
    clear: () => writeFileSync(file, "{}"),
    feels: (mood) => writeFileSync(moodFile, JSON.stringify(mood)),
  };
}

const fakeProgram = `
  const fs = require("node:fs");
  const [file, moodFile] = process.argv.slice(2);
  const { wanted, entry, secret } = JSON.parse(fs.readFileSync(0, "utf8"));
  const mood = fs.existsSync(moodFile) ? JSON.parse(fs.readFileSync(moodFile, "utf8")) : {};
  const applies = (!mood.of || entry.includes(mood.of)) && (!mood.wanted || mood.wanted === wanted);
  const say = (reply) => process.stdout.write(typeof reply === "string" ? reply : JSON.stringify(reply));
  if (applies && mood.hangs) setInterval(() => {}, 1000);
  else if (applies && mood.exits) process.exitCode = mood.exits;
  else if (applies && mood.reply !== undefined) say(mood.reply);
  else {
    const entries = JSON.parse(fs.readFileSync(file, "utf8"));
    const known = Object.hasOwn(entries, entry);
    if (wanted === "read") say(known ? { secret: entries[entry] } : { absent: true });
    if (wanted === "store") { entries[entry] = secret; say({ done: true }); }
    if (wanted === "remove") { delete entries[entry]; say(known ? { done: true } : { absent: true }); }
    fs.writeFileSync(file, JSON.stringify(entries));
  }`;

/** Skipped if no real Secret Service can be started. The single-file binary has no keychain. */
export const secretServiceTest = test.skipIf(isOneFile || !hasSecretService());

/**
 * A session with only GNOME's keyring, until the test ends.
 *
 * @param home the directory of the keyring's files
 * @param password creates or unlocks it; without one it stays locked
 */
export async function openSecretService(
  home: string,
  password?: string,
): Promise<{ env: Record<string, string> }> {
  const runtime = scratchFolder();
  const address = join(runtime, "address");
  const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: runtime };
  const script = `
    if [ -n "$2" ]; then printf %s "$2" | gnome-keyring-daemon --unlock --components=secrets
    else gnome-keyring-daemon --start --components=secrets; fi >/dev/null
    printf %s "$DBUS_SESSION_BUS_ADDRESS" >"$1.new" && mv "$1.new" "$1"
    exec sleep 600`;
  const session = spawn(
    "dbus-run-session",
    ["--", "sh", "-c", script, "sh", address, password ?? ""],
    { env, stdio: "ignore", detached: true },
  );
  onTestFinished(() => {
    if (session.pid !== undefined) process.kill(-session.pid);
  });
  await until(() => existsSync(address));
  const bus = readFileSync(address, "utf8");
  return { env: { XDG_RUNTIME_DIR: runtime, DBUS_SESSION_BUS_ADDRESS: bus } };
}

function hasSecretService(): boolean {
  const folders = (process.env.PATH ?? "").split(":");
  return ["dbus-run-session", "gnome-keyring-daemon"].every((name) =>
    folders.some((folder) => existsSync(join(folder, name))),
  );
}
