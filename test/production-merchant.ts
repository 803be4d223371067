import { request } from "node:http";
import { createServer } from "node:https";
import { onTestFinished } from "vitest";
import { basePath } from "../src/api/contract/index.ts";
import { inDatabase, type Merchant, openMerchant } from "./merchant.ts";
import { lenden, type Outcome } from "./run.ts";
import { makeCertificates, trustAuthority } from "./support/tls.ts";

const apiKey = "public-ABC-ABCDEFGHIJKL-XYZ";

/** A merchant whose account is a production one, behind TLS, with the sandbox's books. */
export interface ProductionMerchant {
  books: Merchant["books"];
  inLedger: Merchant["inLedger"];
  /** Runs lenden in this process with --yes; another base URL or API key of the same merchant can be given. */
  lenden(args: string[], more?: Record<string, string | undefined>): Promise<Outcome>;
  /** Without --yes, for commands that ask nothing. */
  lendenUnasked(args: string[], more?: Record<string, string | undefined>): Promise<Outcome>;
  baseUrl: string;
  payoutSecret: string;
  /** Its configuration is in it. */
  folder: string;
  /** A second base URL of the same API. */
  otherBaseUrl: string;
  /** The customer has paid, or the recipient has the money. */
  complete(table: "payments" | "payouts", id: string): Promise<void>;
  /** From now on the API accepts this key instead. */
  rotateKey(key: string): Promise<void>;
}

export async function openProductionMerchant(): Promise<ProductionMerchant> {
  const merchant = await openMerchant();
  const inBooks = async (sql: string, ...values: string[]) => {
    await merchant.close();
    await inDatabase(merchant.booksFile, (books) => books.prepare(sql).run(...values));
    await merchant.comeBack();
  };
  const rotateKey = (key: string) => inBooks("UPDATE account SET apiKey = ?", key);
  await rotateKey(apiKey);
  const certificates = makeCertificates();
  const target = Number(new URL(merchant.baseUrl).port);
  const server = createServer(certificates, (incoming, outgoing) => {
    const headers = { ...incoming.headers, host: `127.0.0.1:${target}` };
    const { method, url: path } = incoming;
    const forwarded = request(
      { port: target, host: "127.0.0.1", method, path, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(trustAuthority(certificates.authorityFile));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const env = {
    ...merchant.env,
    LENDEN_BASE_URL: `https://localhost:${port}${basePath}`,
    LENDEN_API_KEY: apiKey,
  };
  const lendenUnasked: ProductionMerchant["lendenUnasked"] = (args, more = {}) =>
    lenden(args, { env: { ...env, ...more } });
  return {
    books: merchant.books,
    inLedger: merchant.inLedger,
    lenden: (args, more) => lendenUnasked([...args, "--yes"], more),
    lendenUnasked,
    baseUrl: env.LENDEN_BASE_URL,
    payoutSecret: String(merchant.env.LENDEN_PAYOUT_SECRET),
    folder: String(merchant.env.LENDEN_CONFIG_DIR),
    otherBaseUrl: `https://127.0.0.1:${port}${basePath}`,
    complete: (_, id) => inBooks("UPDATE records SET status = 'Completed' WHERE id = ?", id),
    rotateKey,
  };
}
