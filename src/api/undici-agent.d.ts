/** The one file of undici that every request needs; see transport.ts. */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
