import type { Server } from "node:http";
import { Failure } from "../domain/failure.ts";

/**
 * Makes a server listen where only this machine reaches it.
 *
 * @param port 0 for any free one
 * @returns the port
 * @throws Failure `server.no-port`
 */
export function listenOnLoopback(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(notListening(port, cause)));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

/** Accepts nothing new, and cuts off what is not answered by then. */
export function closeServer(server: Server, graceMs = 0): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cutOff);
      resolve();
    });
  });
}

function notListening(port: number, cause: NodeJS.ErrnoException): Failure {
  const why =
    cause.code === "EADDRINUSE"
      ? "is already in use"
      : `cannot be opened (${cause.code ?? "unknown"})`;
  const hint = "Choose another port with --port. With --port 0, lenden uses any free port.";
  return new Failure("server.no-port", `Port ${port} ${why}.`, { hint, cause });
}
