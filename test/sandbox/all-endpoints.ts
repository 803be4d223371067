import { paymentBody, type Reply, type Sandbox, type Sent } from "./running.ts";

export interface Exchanged {
  /** As in the OpenAPI document: `GET /refund/retrieve/{id}`. */
  route: string;
  reply: Reply;
}

/** Twenty-three valid requests to all eleven endpoints, with every kind of rejection of such requests. */
export async function requestAll(sandbox: Sandbox): Promise<Exchanged[]> {
  const all: Exchanged[] = [];
  const ask = async (route: string, id: unknown = "", sent: Sent = {}) => {
    const [method = "", template = ""] = route.split(" ");
    const reply = await sandbox.call(template.replace(/\{\w+\}/, String(id)), { method, ...sent });
    all.push({ route, reply });
    return reply.body.data ?? {};
  };
  const payout = async (fields = {}, sent: { signature?: string } = {}) => {
    const reply = await sandbox.payout(fields, sent);
    all.push({ route: "POST /payout/create-by-server", reply });
    return reply.body.data ?? {};
  };
  const refund = { amount: 250.25, accountType: "PERSONAL_ACCOUNT", accountNumber: "01812345678" };

  await ask("GET /payment/methods");
  await ask("GET /payment/methods", "", {
    headers: { "x-api-key": "public-ABC-ABCDEFGHIJKL-ABC" },
  });
  await ask("GET /sandbox/info", "", {
    headers: { "x-api-key": "sk_sandbox_ABC-ABCDEFGHIJKL-ABC" },
  });
  const { transactionId } = await ask("POST /payment/create", "", { body: paymentBody });
  await ask("POST /refund/create-a-request", "", { body: { ...refund, transactionId } });
  await ask("GET /payment/retrieve/{transactionId}", transactionId);
  await ask("GET /payment/retrieve/{transactionId}", "TX0");
  await ask("POST /sandbox/trigger-payment", "", { body: { transactionId } });
  await ask("POST /sandbox/trigger-payment", "", { body: { transactionId: "TX0" } });
  const { payoutId } = await payout();
  await payout();
  await payout({}, { signature: "0".repeat(64) });
  await payout({ timestamp: 1 });
  await ask("GET /payout/retrieve/{payoutId}", payoutId);
  await ask("POST /sandbox/trigger-payout", "", { body: { payoutId } });
  await ask("GET /payout/retrieve/{payoutId}", "PO0");
  const { refundRequestId } = await ask("POST /refund/create-a-request", "", {
    body: { ...refund, transactionId, note: "damaged" },
  });
  await ask("POST /refund/create-a-request", "", {
    body: { ...refund, transactionId, amount: 5000 },
  });
  await ask("GET /refund/retrieve/{id}", refundRequestId);
  const cancel = "PATCH /refund/cancel-by-platform/{refundRequestId}";
  await ask(cancel, refundRequestId, { body: { note: "customer kept it" } });
  await ask(cancel, refundRequestId, { body: {} });
  await ask("GET /refund/retrieve/{id}", "RF0");
  await ask("GET /sandbox/info");
  return all;
}
