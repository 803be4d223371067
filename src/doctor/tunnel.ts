import { request } from "node:http";
import type { Socket } from "node:net";
import { portOf } from "./route.ts";

/** The proxy answered, and does not want to. */
export class Refused extends Error {}

interface Through {
  proxy: URL;
  /** A connection to the proxy. */
  socket: Socket;
  limit: AbortSignal;
}

/** Asks a proxy for a way to a host. */
export async function tunnelTo(url: URL, { proxy, socket, limit }: Through): Promise<Socket> {
  const place = `${url.hostname}:${portOf(url)}`;
  const asked = request({
    method: "CONNECT",
    path: place,
    headers: { host: place, ...authorization(proxy) },
    createConnection: () => socket,
    signal: limit,
  });
  return new Promise((resolve, reject) => {
    asked.on("error", reject);
    asked.on("connect", ({ statusCode }, tunnel: Socket) => {
      if (statusCode === 200) resolve(tunnel);
      else reject(new Refused(`the proxy answered ${statusCode}`));
    });
    asked.end();
  });
}

function authorization({ username, password }: URL): Record<string, string> {
  if (!username && !password) return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
