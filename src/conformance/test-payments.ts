import type { PaymentMethod } from "../api/contract/index.ts";
import type { Paisa } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { createPayment } from "../operations/create.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { type LocalClient, localPages } from "../operations/local-sandbox.ts";
import { retrieveRecord } from "../operations/status.ts";
import { triggerPayment } from "../operations/status-transition.ts";

interface Test {
  baseUrl: string;
  methods: PaymentMethod[];
  /** Tells the orders of this test from those of others. */
  run: string;
}

/** The payments of a test, in the local sandbox: its log shows which of them the handler retrieved. */
export async function openTestPayments(
  { listExchanges }: Pick<LocalClient, "listExchanges">,
  deps: OperationDeps,
  { baseUrl, methods, run }: Test,
) {
  let after = 0;
  const retrieved = async (): Promise<string[]> => {
    const paths: string[] = [];
    for await (const page of localPages(listExchanges, after)) {
      after = page.at(-1)?.number ?? after;
      paths.push(...page.map(({ path }) => path));
    }
    return paths.flatMap((path) => /\/payment\/retrieve\/([^/]+)$/.exec(path)?.[1] ?? []);
  };
  await retrieved().catch((cause: unknown) => {
    if (!(cause instanceof Failure) || cause.kind !== "not-found") throw cause;
    const message = "This command needs a local sandbox, but the base URL is that of another API.";
    const hint = "Run the command with 'lenden sandbox exec', or add --profile local.";
    throw new Failure("callback.not-local-sandbox", message, { hint, cause });
  });
  const { origin } = new URL(baseUrl);
  const urls = { redirect_url: `${origin}/return`, callback_url: `${origin}/callback` };
  const paymentMethodId = methods[0]?.id ?? "";
  const pay = async (name: string, amountPaisa: Paisa, isPaid: boolean) => {
    const order = { ...urls, paymentMethodId, description: `test-${run}-${name}` };
    const { payment } = await createPayment(amountPaisa, order, { again: false }, deps);
    const { transactionId } = payment;
    if (isPaid) await triggerPayment(transactionId, deps);
    return { ...(await retrieveRecord("payment", transactionId, deps)) };
  };
  return { retrieved, pay };
}
