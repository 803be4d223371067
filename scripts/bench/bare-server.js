// The least that a server on node:http can do: it looks at nothing but the path, and gives the same
// bytes every time.
// Usage: node bare-server.js <JSON: the bytes for each path>, which prints its origin.
import { createServer } from "node:http";

const answers = JSON.parse(process.argv[2]);
const server = createServer((request, response) => {
  const text = answers[request.url];
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
