// A socket that passes on what a client sends to another one some milliseconds later.
// Usage: node slow-proxy.js <socket> <socket of the server> <milliseconds>
import { createConnection, createServer } from "node:net";

const [own = "", server = "", delayMs = ""] = process.argv.slice(2);

createServer((client) => {
  const upstream = createConnection(server);
  client.on("data", (chunk) => setTimeout(() => upstream.write(chunk), Number(delayMs)));
  upstream.pipe(client);
  client.on("close", () => setTimeout(() => upstream.destroy(), Number(delayMs)));
  for (const end of [client, upstream]) end.on("error", () => {});
}).listen(own, () => console.log("ready"));
