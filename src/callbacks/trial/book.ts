import { amountNumber, type Paisa, paisaOf } from "../../domain/amount.ts";
import { Failure } from "../../domain/failure.ts";
import { isObject, jsonIn } from "../../domain/json.ts";
import type { TestOrder } from "./cases.ts";
import { type Came, exchange, isYes, type Limits } from "./exchange.ts";
import { urlOf, type Way } from "./way.ts";

/** The merchant's own book of orders, as far as it was opened to the trial. */
export interface Book {
  /** @throws Failure `refused` where the shop does not take the order */
  announce(order: TestOrder): Promise<void>;
  /** What is booked as received under these payments, all together. */
  booked(ids: string[]): Promise<Booked>;
}

/** `unclear`: the shop was asked, and gave no amount. */
export type Booked = { is: "known"; paisa: Paisa } | { is: "unclear"; because: string };

/** PUT tells of an order, GET asks what was booked for it; both at an address with {id} in it. */
export function openBook(way: Way, limits: Limits): Book {
  const ask = async (id: string): Promise<Booked> => {
    const came = await exchange(way, urlOf(way, "{id}", id), { method: "GET" }, limits);
    return read(came);
  };
  return {
    async announce({ transactionId, name: order, costsPaisa }) {
      const body = JSON.stringify({ transactionId, order, amount: amountNumber(costsPaisa) });
      const asking = {
        method: "PUT" as const,
        length: Buffer.byteLength(body),
        write: (outgoing: NodeJS.WritableStream) => void outgoing.end(body),
      };
      const came = await exchange(way, urlOf(way, "{id}", transactionId), asking, limits);
      if (!isYes(came)) throw untaken(came);
    },
    async booked(ids) {
      let paisa = 0n;
      for (const id of ids) {
        const one = await ask(id);
        if (one.is === "unclear") return one;
        paisa += one.paisa;
      }
      return { is: "known", paisa };
    },
  };
}

/** `{"paid": 500}`, `500`, or 404 for what the shop does not know. */
function read(came: Came): Booked {
  if (came.status === 404) return { is: "known", paisa: 0n };
  const value = isYes(came) ? jsonIn(came.text)?.value : undefined;
  const paid = isObject(value) && "paid" in value ? value.paid : value;
  const paisa = typeof paid === "number" ? paisaOf(paid) : undefined;
  if (paisa !== undefined) return { is: "known", paisa };
  const said = came.fault ?? `${came.status}, and no amount`;
  return { is: "unclear", because: `GET at --orders brought ${said}.` };
}

function untaken({ status, fault }: Came): Failure {
  return new Failure(
    "refused",
    `Your shop did not take an order of the test (${fault ?? status}).`,
    {
      hint: "PUT at --orders must be answered with 2xx; 'lenden callback test --help' says what it is sent.",
    },
  );
}
