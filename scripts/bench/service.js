// A service that answers at once and keeps nothing: what is measured beside it is the client alone.
// Usage: node scripts/bench/service.js [<milliseconds that each response takes>], which prints its base
// URL.
import { createServer } from "node:http";

const latencyMs = Number(process.argv[2] ?? 0);
let made = 0;
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const text = JSON.stringify({ success: true, data: answer(request.url, chunks) });
    const respond = () => {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      });
      response.end(text);
    };
    if (latencyMs > 0) setTimeout(respond, latencyMs);
    else respond();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/cp/api/v1`);
});

function answer(url, chunks) {
  if (url.endsWith("/payment/methods"))
    return [{ id: "M1", providerName: "bKash", codeName: "bkash" }];
  if (chunks.length === 0) return []; // whatever else a tool asks for
  const { merchantRef, amount } = JSON.parse(Buffer.concat(chunks).toString());
  made += 1;
  const createdAt = new Date().toISOString();
  return { payoutId: `PO${made}`, merchantRef, amount, status: "Processing", createdAt };
}
