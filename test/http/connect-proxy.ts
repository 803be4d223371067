import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "./misbehaving.ts";

export interface ConnectProxy {
  port: number;
  url: string;
  /** What it was asked to connect to, and any plain request that came to it. */
  asked: string[];
  /** What each of them said of who it is. */
  credentials: (string | undefined)[];
}

/** A proxy on loopback that takes every name for the one local port it knows. */
export async function connectProxy(
  targetPort: number,
  { answer = "200 Connection established" }: { answer?: string } = {},
): Promise<ConnectProxy> {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    outgoing.writeHead(501).end();
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (incoming, near: Socket, first: Buffer) => {
    asked.push(`CONNECT ${incoming.url}`);
    credentials.push(incoming.headers["proxy-authorization"]);
    near.on("error", () => {});
    if (!answer.startsWith("200")) return void near.end(`HTTP/1.1 ${answer}\r\n\r\n`);
    const far = connect(targetPort, "127.0.0.1", () => {
      near.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      far.write(first);
      far.pipe(near);
      near.pipe(far);
    });
    sockets.add(far);
    far.on("error", () => near.destroy());
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port, url: `http://127.0.0.1:${port}`, asked, credentials };
}
