import { spawn } from "node:child_process";
import { errorCode } from "../domain/error-code.ts";

/** The world that a program runs in. */
export interface Surroundings {
  env: Record<string, string | undefined>;
  /** Ends early when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

interface Call extends Surroundings {
  program: string;
  args: string[];
  /** What it is told on its standard input, never by an argument: others can read those. */
  input?: string;
  patienceMs: number;
}

/** What a program printed, or why that does not count. */
type Printed = { text: string } | { fault: string };

const mostBytes = 64 * 1024;

/**
 * Runs a program without a shell and gives what it printed. What it says on stderr goes nowhere: it
 * may hold the very secret. One that takes too long, or prints without end, is killed and not waited
 * for any more.
 */
export function printedBy({
  program,
  args,
  env,
  input = "",
  patienceMs,
  sleep,
}: Call): Promise<Printed> {
  return new Promise((resolve) => {
    if (program === "") return resolve({ fault: "no program is named" });
    const child = spawn(program, args, {
      env,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const over = new AbortController();
    const end = (printed: Printed): void => {
      over.abort();
      child.kill("SIGKILL");
      child.stdout.destroy();
      resolve(printed);
    };
    void sleep(patienceMs, over.signal).then(() =>
      end({ fault: `no answer in ${patienceMs / 1000} s` }),
    );
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) end({ fault: `more than ${mostBytes / 1024} KiB` });
    });
    child.on("error", (error) => end({ fault: errorCode(error) ?? "unknown" }));
    child.on("close", (code, signal) => {
      if (code === 0) end({ text: Buffer.concat(chunks).toString("utf8") });
      else end({ fault: signal ? `ended by ${signal}` : `exit code ${code}` });
    });
    // It need not listen.
    child.stdin.on("error", () => {}).end(input);
  });
}
