// An API that stores nothing, so that a measurement beside it is of the client alone.
// Usage: node scripts/bench/fake-api.js [<milliseconds of each response>], which prints its base URL.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const latencyMs = Number(process.argv[2] ?? 0);
let payouts = 0;
/** When payouts were requested since the pace was last asked for. */
let pace = { count: 0, firstMs: 0, lastMs: 0 };
const server = createServer(async (request, response) => {
  const data = dataFor(request.url ?? "", await text(request));
  const body = JSON.stringify({ success: true, data });
  const respond = () => {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  };
  if (latencyMs > 0) setTimeout(respond, latencyMs);
  else respond();
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  console.log(`http://127.0.0.1:${address.port}/cp/api/v1`);
});

/** @param {string} url @param {string} body */
function dataFor(url, body) {
  if (url.endsWith("/payment/methods"))
    return [{ id: "M1", providerName: "bKash", codeName: "bkash" }];
  if (url.endsWith("/pace")) return takePace();
  if (body === "") return [];
  const { merchantRef, amount } = JSON.parse(body);
  payouts += 1;
  pace.lastMs = performance.now();
  if (pace.count === 0) pace.firstMs = pace.lastMs;
  pace.count += 1;
  const createdAt = new Date().toISOString();
  return { payoutId: `PO${payouts}`, merchantRef, amount, status: "Processing", createdAt };
}

/** Payouts a second, from the first to the last. */
function takePace() {
  const { count, firstMs, lastMs } = pace;
  pace = { count: 0, firstMs: 0, lastMs: 0 };
  return { perSecond: (count - 1) / ((lastMs - firstMs) / 1000) };
}
