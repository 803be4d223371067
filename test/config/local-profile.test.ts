import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Profiles } from "../../src/config/profiles.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { lenden } from "../support/lenden.ts";
import { liveKey, place, secret } from "./setup.ts";

const { lock } = await openDatabase(":memory:");

/** Runs `sandbox start` while another process stores profiles, and stops it once it runs. */
async function startBeside(now: Profiles) {
  const { folder, file, env, stored } = place();
  const unlock = lock(join(folder, ".profiles.lock"));
  let stop = () => {};
  const { code, stderr } = await lenden(["sandbox", "start", "--port", "0"], {
    env,
    onStart: (signal) => {
      stop = () => signal("SIGINT");
    },
    host: {
      sleep: async () => {
        writeFileSync(file, JSON.stringify(now), { mode: 0o600 });
        unlock?.();
        stop();
      },
    },
  });
  return { code, stderr, stored: stored() };
}

const live = {
  environment: "production" as const,
  baseUrl: "https://api.example/cp/api/v1",
  apiKey: { text: liveKey },
  payoutSecret: { text: secret },
};

test("sandbox start keeps a production profile local that another process stores meanwhile", async () => {
  const now: Profiles = { version: 1, current: "local", profiles: { local: live } };
  const { code, stderr, stored } = await startBeside(now);
  expect([code, stderr]).toEqual([
    0,
    "Profile local belongs to another account and was not changed.\n",
  ]);
  expect(stored).toEqual(now);
});

test("sandbox start keeps the settings of a profile local that another process stores meanwhile", async () => {
  const local = {
    environment: "sandbox" as const,
    baseUrl: "http://127.0.0.1:1/cp/api/v1",
    method: "bkash",
  };
  const { stderr, stored } = await startBeside({ version: 1, profiles: { local } });
  expect(stderr).toMatch(/^Profile local now uses this sandbox, not the one at http:.*\n.*ready/);
  expect(stored.profiles.local).toMatchObject({ environment: "sandbox", method: "bkash" });
});
