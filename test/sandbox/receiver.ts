import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** A merchant's own server: what it was told, oldest first. */
export interface Receiver {
  url: string;
  bodies: Record<string, unknown>[];
  heads: IncomingMessage["headers"][];
  paths: (string | undefined)[];
  ids(): unknown[];
  openConnections(): number;
}

/** Answers 200 where nothing else is asked for. */
export async function openReceiver(
  answer: (from: IncomingMessage, to: ServerResponse) => unknown = (_, to) => to.end(),
): Promise<Receiver> {
  const bodies: Record<string, unknown>[] = [];
  const heads: IncomingMessage["headers"][] = [];
  const paths: (string | undefined)[] = [];
  const connections = new Set<unknown>();
  const server = createServer(async (from, to) => {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk);
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    heads.push(from.headers);
    paths.push(from.url);
    answer(from, to);
  });
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/callback`,
    bodies,
    heads,
    paths,
    ids: () => bodies.map(({ transactionId }) => transactionId),
    openConnections: () => connections.size,
  };
}
