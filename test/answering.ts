export { answering, type Reply } from "./support/server.ts";
