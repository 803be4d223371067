/** The files of undici that every request needs; see transport.ts. */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}

declare module "undici/lib/core/connect.js" {
  import type { Socket } from "node:net";
  import type { buildConnector } from "undici";

  /** Returns the socket, which undici's own type omits. */
  type Connector = (target: buildConnector.Options, callback: buildConnector.Callback) => Socket;

  export default function connectorWith(options: buildConnector.BuildOptions): Connector;
}
