import { spawn } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** A multicast address: no system has a route to it for TCP. */
export const withoutRoute = "ff0e::1";

/**
 * While it is stalled, the system drops each SYN for the port, as a line does that loses or delays packets. The
 * client sends it again after a second, and connects then if `resume` was called.
 */
export interface SlowLine {
  port: number;
  resume(): void;
}

/** Forwards a port of each address to another one. It listens with short queues. */
const relay = `
  const { once } = require("node:events");
  const { connect, createServer } = require("node:net");
  const [target, ...addresses] = process.argv.slice(1);
  const forward = (near) => {
    near.on("error", () => {});
    near.once("data", (first) => {
      const far = connect(Number(target), "127.0.0.1").on("error", () => near.destroy());
      far.write(first);
      near.pipe(far).pipe(near);
    });
  };
  (async (port = 0) => {
    for (const host of addresses) {
      const server = createServer(forward).listen({ port, host, backlog: 1 });
      await once(server, "listening");
      ({ port } = server.address());
    }
    console.log(port);
  })();
`;

/** A stalled line to a port. The process that listens is stopped, and its queues are full. */
export async function stalledLine(
  targetPort: number,
  addresses = ["127.0.0.1"],
): Promise<SlowLine> {
  const args = ["-e", relay, String(targetPort), ...addresses];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const queued: Socket[] = [];
  onTestFinished(() => {
    for (const socket of queued) socket.destroy();
    child.kill("SIGKILL");
  });
  const [line] = await once(child.stdout, "data");
  const port = Number(String(line));
  child.kill("SIGSTOP");
  const isConnected = async (host: string): Promise<boolean> => {
    const socket = connect(port, host).on("error", () => {});
    queued.push(socket);
    const connected = once(socket, "connect").then(() => true);
    return Promise.race([connected, delay(150, false)]);
  };
  for (const address of addresses) while (await isConnected(address));
  return { port, resume: () => void child.kill("SIGCONT") };
}

/** Resolves a name to these addresses in this process, until the test ends. Settles once it was looked up. */
export function resolveName(name: string, addresses: string[]): Promise<void> {
  const { lookup } = dns;
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  onTestFinished(() => void Object.assign(dns, { lookup }));
  return new Promise((lookedUp) => {
    Object.assign(dns, {
      lookup: (host: string, options: object, done: (...found: unknown[]) => void) => {
        if (host !== name) return lookup(host, options, done);
        process.nextTick(done, null, found);
        lookedUp();
      },
    });
  });
}
