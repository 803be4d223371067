import { createServer, type IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import { basePath } from "../src/api/contract/index.ts";

export interface Reply {
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body: string;
}

export interface Answering {
  baseUrl: string;
  /** Method and path of every request, in order. */
  asked: string[];
}

/** A service on loopback that answers whatever a test wants it to. */
export async function answering(
  reply: (request: IncomingMessage, body: string) => Reply | object | Promise<Reply | object>,
): Promise<Answering> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const made = await reply(request, body);
    const whole: Reply = isReply(made)
      ? made
      : { body: JSON.stringify({ success: true, data: made }) };
    const { status = 200, type = "application/json", headers = {}, body: text } = whole;
    response.writeHead(status, { "content-type": type, ...headers }).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { baseUrl: `http://127.0.0.1:${port}${basePath}`, asked };
}

function isReply(made: Reply | object): made is Reply {
  return "body" in made && typeof made.body === "string";
}
