import type { AtEnd } from "../support/helpers.ts";
import { listen } from "../support/server.ts";
import { createShop } from "./right.js";

/** The store of right.js with a fault, on the account of a merchant. */
export async function openShop(
  env: Record<string, string>,
  atEnd: AtEnd,
  fault?: Parameters<typeof createShop>[1],
) {
  const server = createShop(env, fault);
  const url = `http://127.0.0.1:${await listen(server)}`;
  atEnd(async () => {
    server.close();
    server.closeAllConnections();
  });
  return { url, callback: `${url}/callback`, orders: `${url}/orders/{id}` };
}
