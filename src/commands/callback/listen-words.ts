import { card, type Field, field, text, type View } from "../../cli/output/view.ts";

const listening =
  "It listens on 127.0.0.1: let a tunnel or your reverse proxy send callbacks there, and let that limit how many connections a stranger may hold open. Each is kept in the ledger, the payment or refund that it names is retrieved, and an uncertain operation that is proved by it is settled. What is neither JSON nor a form, or could be read in two ways, is never genuine. --print-json prints one document a line; the first says where it listens. Stopped by Ctrl-C or SIGTERM it ends with 0; with --once or --for, what it waited for did not come then, and it ends with 130 or 143.";

/** What whoever writes a handler has to know. */
const handing =
  "With --forward-to your own handler gets the same bytes and, as headers, what the service has: x-lenden-verified (true, false, or unknown where the service did not answer), and where the callback is about one record its x-lenden-id, x-lenden-status and x-lenden-amount. Act on these and not on the body: anybody can write a body. The sender gets your handler's status.";

const again =
  "The same callback within a minute is one, and is passed on once. What the service or your handler did not answer is tried again for a day, also by the next run; your handler gets every change of the verdict, so that the same callback may come to it more than once.";

export const listenDetails = `${listening}\n\n${handing}\n\n${again}`;

/** The first that a listener says. */
export interface Begun {
  event: "listening";
  /** Null where only the service is asked. */
  url: string | null;
  pid: number;
}

export function begunCard({ url, pid }: Begun): View {
  return card("Callbacks, until Ctrl-C", url ?? "", [
    field("url", "Listens on", text(url)),
    ...(url === null ? [] : waysTo(url)),
    field("pid", "Process", text(pid)),
  ]);
}

/** How callbacks come here: on this machine at once, from elsewhere through a tunnel to the same port. */
function waysTo(url: string): Field[] {
  const [payment, refund] = [`--callback-url ${url}/`, `--refund-callback-url ${url}/`];
  return [
    field("payments", "Payments", text(`lenden pay create ${payment} …, or your tunnel's address`)),
    field("refunds", "Refunds", text(`lenden sandbox start ${refund}, or your dashboard`)),
  ];
}
