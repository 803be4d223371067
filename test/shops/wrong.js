/** A shop that believes every callback: what `lenden callback test` is there to find. */
import { createServer } from "node:http";

const names = new Map();
const paid = new Map();

const server = createServer(async (request, response) => {
  const chunks = await request.toArray().catch(() => []);
  const body = Buffer.concat(chunks).toString() || "{}";
  const id = /^\/orders\/(.+)$/.exec(request.url ?? "")?.[1];
  if (id && request.method === "GET") return response.end(String(paid.get(names.get(id)) ?? 0));
  const said = JSON.parse(body);
  if (id) names.set(id, said.order);
  else if (said.status === "Completed")
    paid.set(said.description, (paid.get(said.description) ?? 0) + said.amount);
  else paid.set(said.description, 0);
  response.end("thank you");
});

server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
});
