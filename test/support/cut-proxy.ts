import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type AtEnd, scratchFolder } from "./helpers.ts";
import type { Cluster } from "./postgres.ts";

/**
 * How the connection of a COMMIT is cut. The server gets nothing of it (`before`), half of it, or all of it
 * when the connection of the client is long cut (`late`); it commits and its answer is lost, or the answer
 * arrives and the next statement does not (`after`).
 */
export type Cut = "before" | "half" | "late" | "unanswered" | "after";

/** A proxy before a server's socket, which cuts connections at a COMMIT. */
export interface CutProxy {
  /** A database behind the proxy, as lenden is given it. */
  url(database: string, user?: string): string;
  /** The directory of its socket. */
  folder: string;
  /** How many connections were opened. */
  connections(): number;
  /** Asked at each COMMIT how it is cut; undefined lets it pass. */
  onCommit: () => Cut | undefined;
  /** Called before each statement is passed on, which waits for it. */
  onStatement: (sql: string) => void | Promise<void>;
  /** A text in statements, and another one of the same length in its place. */
  replaces: [from: string, to: string];
  /** New connections are closed at once. */
  isRefusing: boolean;
  /** Nothing passes any longer, and no one is told. */
  isSilent: boolean;
  /** Cuts all connections. */
  cut(): void;
}

export async function startCutProxy(
  { folder: target, port }: Pick<Cluster, "folder" | "port">,
  atEnd: AtEnd = onTestFinished,
): Promise<CutProxy> {
  const folder = scratchFolder();
  const open = new Set<Socket>();
  const late = new WeakSet<Socket>();
  let count = 0;
  const proxy: CutProxy = {
    url: (database, user = "postgres") =>
      `postgres://${user}@${encodeURIComponent(folder)}/${database}`,
    folder,
    connections: () => count,
    onCommit: () => undefined,
    onStatement: () => {},
    replaces: ["", ""],
    isRefusing: false,
    isSilent: false,
    cut: () => {
      for (const socket of open) socket.destroy();
    },
  };
  const tracked = (socket: Socket, other: () => Socket): Socket => {
    open.add(socket);
    return socket
      .on("error", () => {})
      .on("close", () => {
        open.delete(socket);
        // A late COMMIT still has to arrive.
        if (!late.has(other())) other().destroy();
      });
  };
  const server = createServer((near) => {
    if (proxy.isRefusing) return void near.destroy();
    count += 1;
    let cut: Cut | undefined;
    // Responses to earlier statements can arrive after the COMMIT was sent.
    let isCommitAnswered = false;
    const far = tracked(connect(join(target, `.s.PGSQL.${port}`)), () => near);
    tracked(near, () => far);
    const toServer = async (sent: Buffer): Promise<void> => {
      const message = Buffer.from(sent.toString("latin1").replace(...proxy.replaces), "latin1");
      if (proxy.isSilent) return;
      const sql = statementIn(message);
      if (sql !== undefined) await proxy.onStatement(sql);
      if (sql === "COMMIT") {
        cut = proxy.onCommit();
        isCommitAnswered = false;
      }
      if (cut === "before") return void far.destroy();
      if (cut === "half") {
        await new Promise((sent) => far.write(message.subarray(0, 7), sent));
        return void far.destroy();
      }
      if (cut === "late") {
        late.add(far);
        near.destroy();
        await delay(lateMs);
        far.end(message);
        return;
      }
      far.write(message);
    };
    const toClient = async (message: Buffer): Promise<void> => {
      if (proxy.isSilent) return;
      if (isCommitted(message)) isCommitAnswered = true;
      if (cut === "unanswered" && isCommitAnswered) return void near.destroy();
      near.write(message);
      if (cut === "after" && isCommitAnswered && isReady(message)) near.end();
    };
    near.on("data", messages(false, toServer));
    far.on("data", messages(true, toClient));
  });
  await new Promise<void>((listening) => server.listen(join(folder, ".s.PGSQL.5432"), listening));
  atEnd(async () => {
    proxy.cut();
    await new Promise((closed) => server.close(closed));
  });
  return proxy;
}

const lateMs = 500;

/** Splits a stream into messages, which are handled one after the other. The first of a client has no type. */
function messages(startsTyped: boolean, handle: (message: Buffer) => Promise<void>) {
  let rest: Buffer = Buffer.alloc(0);
  let typeLength = startsTyped ? 1 : 0;
  let turn = Promise.resolve();
  return (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeLength + 4) {
      const length = typeLength + rest.readInt32BE(typeLength);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      turn = turn.then(() => handle(message));
      rest = rest.subarray(length);
      typeLength = 1;
    }
  };
}

/** The text of a simple query, or of an unnamed statement that is prepared. */
function statementIn(message: Buffer): string | undefined {
  const [type = 0] = message;
  if (type === typeOf("Q")) return message.toString("utf8", 5, message.length - 1);
  return type === typeOf("P") ? message.toString("utf8", 6, message.indexOf(0, 6)) : undefined;
}

/** The server's answer once a transaction is durable. */
function isCommitted(message: Buffer): boolean {
  return message[0] === typeOf("C") && message.toString("latin1", 5) === "COMMIT\0";
}

function isReady(message: Buffer): boolean {
  return message[0] === typeOf("Z");
}

function typeOf(letter: string): number {
  return letter.charCodeAt(0);
}
