import type { RecordedExchange } from "../../api/contract/local.ts";
import type { TrialSandbox } from "../../callbacks/trial/trial.ts";
import type { Context } from "../../cli/command/context.ts";
import { Failure } from "../../domain/failure.ts";
import { createPayment } from "../../operations/create.ts";
import { dataOf } from "../../operations/response-failure.ts";
import { triggerPayment } from "../../operations/status-transition.ts";
import { keptExchanges } from "../sandbox/exchanges.ts";

/**
 * The local sandbox as a trial uses it: payments are made as everywhere, and its journal shows what
 * the merchant's handler asked.
 *
 * @throws Failure `access` where the service is no local sandbox
 */
export async function openTrialSandbox(context: Context): Promise<TrialSandbox> {
  const watch = journalOf(context);
  await watch();
  const world = await context.world();
  const { baseUrl } = await context.account();
  // The trial sends callbacks by itself; those of the sandbox go where they do no harm.
  const { origin } = new URL(baseUrl);
  const urls = { redirect_url: `${origin}/return`, callback_url: `${origin}/callback` };
  const paymentMethodId = (await context.methods())[0]?.id ?? "";
  const retrieve = async (transactionId: string) =>
    dataOf(await world.client.retrievePayment({ transactionId }), transactionId);
  return {
    async pay({ description, amountPaisa, isPaid }) {
      const wanted = { description, paymentMethodId, ...urls };
      const { transactionId } = await createPayment(amountPaisa, wanted, { again: false }, world);
      const record = isPaid
        ? await triggerPayment(transactionId, world)
        : await retrieve(transactionId);
      return { transactionId, record };
    },
    retrieved: async () => (await watch()).flatMap(retrievedId),
    statusOf: async (transactionId) => (await retrieve(transactionId)).status,
  };
}

/** Gives what is new in the journal, each time. */
function journalOf(context: Context): () => Promise<RecordedExchange[]> {
  let after = 0;
  return async () => {
    const found: RecordedExchange[] = [];
    try {
      for await (const part of keptExchanges(context, after)) {
        if (part.length === 0) break;
        found.push(...part);
      }
    } catch (error) {
      throw error instanceof Failure && error.kind === "not-found" ? noJournal(error) : error;
    }
    after = found.at(-1)?.number ?? after;
    return found;
  };
}

/** Payments alone: the trial is about nothing else. Its ids look the same in a path. */
function retrievedId({ method, path, attempt }: RecordedExchange): string[] {
  const [, id] = /\/payment\/retrieve\/([^/]+)$/.exec(path) ?? [];
  return method === "GET" && attempt === null && id !== undefined ? [id] : [];
}

function noJournal(cause: Failure): Failure {
  return new Failure("access", "Only a local sandbox can do this, and this service is none.", {
    hint: "Run it inside 'lenden sandbox exec', or start one with 'lenden sandbox start' and use --profile local.",
    cause,
  });
}
