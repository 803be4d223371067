// A socket that passes on what a client sends to another one some milliseconds later. It prints a dot for each
// response that the client waited for.
// Usage: node slow-proxy.js <socket> <socket of the server> <milliseconds>
import { createConnection, createServer } from "node:net";

const [own = "", server = "", delayMs = ""] = process.argv.slice(2);

createServer((client) => {
  const upstream = createConnection(server);
  let isAwaited = false;
  client.on("data", (chunk) => {
    isAwaited = true;
    setTimeout(() => upstream.write(chunk), Number(delayMs));
  });
  upstream.on("data", () => {
    if (isAwaited) process.stdout.write(".");
    isAwaited = false;
  });
  upstream.pipe(client);
  client.on("close", () => setTimeout(() => upstream.destroy(), Number(delayMs)));
  for (const end of [client, upstream]) end.on("error", () => {});
}).listen(own, () => console.log("ready"));
