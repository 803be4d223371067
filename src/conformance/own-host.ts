import { lookup } from "node:dns/promises";
import { Failure } from "../domain/failure.ts";

/** @throws Failure `callback.handler-elsewhere` if it is another machine that the user did not name */
export async function requireOwnHost(template: string, ownHost: string | undefined): Promise<void> {
  const host = new URL(template).hostname.replace(/^\[|\]$/g, "");
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0)
    throw new Failure("callback.handler-unreachable", `Cannot find an IP address of ${host}.`, {
      hint: "Check the host in the URL.",
    });
  const isHere = found.every(({ address }) => /^(?:::ffff:)?127\.|^::1$/.test(address));
  if (isHere || host.toLowerCase() === ownHost?.toLowerCase()) return;
  const message = `${host} is another machine, so lenden does not send false callbacks to it.`;
  const hint = `If this host is yours, add --own-host ${host}.`;
  throw new Failure("callback.handler-elsewhere", message, { hint });
}
