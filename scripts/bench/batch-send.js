// One run of `lenden payout batch send`, watched from outside.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { launcher, peakSoFar, scratch, surroundings } from "./commands.js";

/**
 * Sends a file with a ledger of its own: how long it took, its payouts per second while sending, and
 * its memory at its peak. Without a service it plans the file and finds nobody to send to; then the
 * seconds are those until the plan was durable.
 *
 * `preload` names a file that Node loads before lenden.
 */
export async function sendFile(file, baseUrl, { concurrency = 32, preload } = {}) {
  const data = mkdtempSync(join(scratch, "batch-"));
  const account = {
    LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-xyz",
    LENDEN_PAYOUT_SECRET: "a-payout-secret-of-the-bench",
    LENDEN_BASE_URL: baseUrl ?? "http://127.0.0.1:9/cp/api/v1",
  };
  const alone = baseUrl ? [] : ["--method-id", "bkash", "--timeout", "10m"];
  const send = [launcher, "payout", "batch", "send", file, "--concurrency", String(concurrency)];
  const line = [...(preload ? ["--require", preload] : []), ...send, ...alone];
  const start = performance.now();
  const child = spawn(process.execPath, line, {
    env: surroundings(data, account),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const seen = watch(child, start);
  const [code] = await once(child, "close");
  const seconds = (performance.now() - start) / 1000;
  rmSync(data, { recursive: true, force: true });
  const { stderr, plannedSeconds, megabytes } = seen();
  if (code !== (baseUrl ? 0 : unreachable)) throw new Error(`lenden ended with ${code}: ${stderr}`);
  const perSecond = Number(/ · ([\d.]+) rows\/s(?!.*rows\/s)/s.exec(stderr)?.[1]);
  return { seconds: baseUrl ? seconds : plannedSeconds, perSecond, megabytes };
}

const unreachable = 69;

function watch(child, start) {
  let [stderr, plannedSeconds, megabytes] = ["", 0, 0];
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    if (plannedSeconds === 0 && /rows · /.test(stderr))
      plannedSeconds = (performance.now() - start) / 1000;
  });
  const looking = setInterval(() => {
    megabytes = Math.max(megabytes, peakSoFar(child.pid));
  }, 20);
  child.once("close", () => clearInterval(looking));
  return () => ({ stderr, plannedSeconds, megabytes });
}
