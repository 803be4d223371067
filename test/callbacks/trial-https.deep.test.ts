import { createServer } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../http/certificates.ts";
import { listen } from "../http/misbehaving.ts";
import { openMerchant } from "../merchant.ts";
import { built } from "../run.ts";

test("a handler on https: is trusted where NODE_EXTRA_CA_CERTS names its authority", async () => {
  const merchant = await openMerchant();
  const { key, cert, authorityFile } = makeCertificates();
  const server = createServer({ key, cert }, (_, outgoing) => outgoing.writeHead(403).end());
  onTestFinished(() => void server.close());
  const url = `https://localhost:${await listen(server)}/`;
  const quickly = ["--settle", "1ms", "--answer-within", "1s"];
  const answers = async (trusting: Record<string, string>) => {
    const line = ["callback", "test", url, "--only", "genuine", ...quickly, "--json"];
    const { stdout } = await built(line, { env: { ...merchant.env, ...trusting } });
    return JSON.parse(stdout)[0].answers;
  };
  expect(await answers({})).toEqual([
    { status: null, fault: "no answer (UNABLE_TO_VERIFY_LEAF_SIGNATURE)" },
  ]);
  expect(await answers({ NODE_EXTRA_CA_CERTS: authorityFile })).toEqual([
    { status: 403, fault: null },
  ]);
});
