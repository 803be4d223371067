import type { Exchange, Request } from "../../src/api/transport.ts";
import {
  busyStatuses,
  type Fault,
  faultKinds,
  pageStatuses,
  paymentPages,
  picked,
  refusals,
  serverErrors,
  unsentReasons,
} from "./faults.ts";
import type { Reply } from "./service.ts";
import { never, type Tool } from "./tool.ts";
import { baseUrl, type Universe } from "./universe.ts";
import type { Sent, Watch } from "./watch.ts";

const givesUpAfterMs = 30_000;
const soonMs = 20;

/** The wire between a process and the service, with everything that can go wrong on it. */
export class Network {
  readonly #universe: Universe;
  readonly #watch: Watch;
  /** Runs other processes while one waits for its answer. */
  meanwhile: (tool: Tool) => Promise<void> = async () => {};

  /** Runs another process while a person is asked whether a batch is to be sent. */
  question: (tool: Tool) => Promise<void> = async () => {};

  constructor(universe: Universe, watch: Watch) {
    this.#universe = universe;
    this.#watch = watch;
  }

  async exchange(request: Request, tool: Tool): Promise<Exchange> {
    const { timeline } = this.#universe;
    if (this.#universe.crashesNow(tool)) return never();
    if (timeline.now() >= tool.deadlineMs) {
      // What was made can no longer be looked at.
      if (request.method === "GET") this.#universe.doubts(tool);
      return broken(false, "stopped");
    }
    const fault = this.#universe.nextFault();
    this.#universe.counts.calls += 1;
    if (fault) this.#note(tool, request, fault);
    if (fault?.kind === "not sent") {
      timeline.advance(fault.lateMs);
      return broken(false, picked(unsentReasons, fault.pick));
    }
    const sent = this.#watch.sees(request, tool);
    const underWay = fault?.acts ? this.#underWay(fault.lateMs, request, sent) : undefined;
    await this.meanwhile(tool);
    if (tool.isDead || this.#universe.crashesNow(tool)) {
      this.#watch.diesInFlight(sent);
      underWay?.outlives();
      return never();
    }
    underWay?.isOver();
    const exchange = this.#exchangeOf(request, sent, fault);
    if (this.#universe.crashesNow(tool)) {
      this.#watch.diesInFlight(sent);
      return never();
    }
    this.#watch.isOver(sent, exchange);
    return exchange;
  }

  #exchangeOf(request: Request, sent: Sent, fault: Fault | undefined): Exchange {
    const { timeline } = this.#universe;
    const { tool } = sent;
    const mayAct = !fault || (faultKinds[fault.kind].acts && fault.acts);
    const mustAct = fault?.kind === "slow" || fault?.kind.startsWith("other");
    const reply = mayAct || mustAct ? this.#act(request, sent) : undefined;
    if (fault?.kind === "late") this.#actLater(givesUpAfterMs + fault.lateMs, request, sent);
    const patient = fault?.kind !== "timeout" && fault?.kind !== "late";
    const takesMs = patient ? (fault?.kind === "slow" ? fault.lateMs * 2 : 40) : givesUpAfterMs;
    if (timeline.now() + takesMs > tool.deadlineMs) {
      timeline.advance(tool.deadlineMs - timeline.now());
      tool.cutOff();
      this.#universe.doubts(tool);
      return broken(true, "stopped");
    }
    timeline.advance(takesMs);
    return fault ? this.#spoilt(reply, fault, sent) : this.#answer(reply);
  }

  /** The service does it now, by its own clock. */
  #act(request: Request, sent: Sent): Reply {
    const { service, timeline, skewMs } = this.#universe;
    const { pathname } = request.url;
    const reply = service.handle(
      {
        method: request.method,
        path: pathname.slice(new URL(baseUrl).pathname.length),
        headers: request.headers,
        body: request.body,
      },
      timeline.now() + skewMs,
    );
    this.#watch.acted(sent, reply);
    return reply;
  }

  #actLater(delayMs: number, request: Request, sent: Sent): void {
    if (request.method === "GET") return;
    sent.tool.pending += 1;
    this.#universe.timeline.later(delayMs, () => {
      sent.tool.pending -= 1;
      this.#act(request, sent);
    });
  }

  /**
   * A request outlives the process that sent it: the service acts so long after it was sent, also
   * while others work, and not when the dead one's turn comes again.
   */
  #underWay(delayMs: number, request: Request, sent: Sent) {
    const { tool } = sent;
    let isOver = request.method === "GET";
    const due = (): void => {
      if (isOver) return;
      if (!tool.isDead) {
        this.#universe.timeline.later(soonMs, due);
        return;
      }
      isOver = true;
      tool.pending = Math.max(0, tool.pending - 1);
      this.#act(request, sent);
    };
    this.#universe.timeline.later(delayMs, due);
    return {
      isOver: () => {
        isOver = true;
      },
      outlives: () => {
        if (!isOver) tool.pending += 1;
      },
    };
  }

  #spoilt(reply: Reply | undefined, fault: Fault, sent: Sent): Exchange {
    const text = JSON.stringify(reply?.body ?? { success: true, data: { half: "of it" } });
    switch (fault.kind) {
      case "reset":
        return broken(true, "connection lost");
      case "timeout":
      case "late":
        return broken(true, "no response in time");
      case "cut off":
        return { ...broken(true, "response ended early"), status: 200 };
      case "garbage":
        return this.#raw(200, picked(["\u0000\u0001\u0002", "<html>ok</html>", "ok"], fault.pick));
      case "empty":
        return this.#raw(picked([200, 204], fault.pick), "");
      case "truncated":
        return this.#raw(200, text.slice(0, Math.floor(text.length / 2)));
      case "wrong shape":
        return this.#raw(200, picked(['{"success":true,"data":{}}', "[]", "null"], fault.pick));
      case "server error":
        return this.#raw(picked(serverErrors, fault.pick), '{"message":"try later"}');
      case "redirect":
        return this.#raw(307, "", { location: "https://elsewhere.test/" });
      case "refused":
        return this.#raw(picked(refusals, fault.pick), '{"success":false,"message":"no"}');
      case "page":
        return this.#raw(
          picked(sent.kind === "payment" ? paymentPages : pageStatuses, fault.pick),
          "<h1>No</h1>",
        );
      case "busy":
        return this.#raw(
          picked(busyStatuses, fault.pick),
          picked(["busy", '{"success":false,"message":"later"}'], fault.lateMs),
          this.#retryAfter(fault),
        );
      case "clash":
        return this.#raw(409, picked(['{"message":"in work"}', '{"success":false}'], fault.lateMs));
      case "success: false":
        return this.#raw(200, '{"success":false,"message":"not today"}');
      case "other amount":
      case "other reference":
        return this.#lie(reply, fault, sent);
      case "slow":
      case "not sent":
        return this.#answer(reply);
    }
  }

  /** An answer about another payout, payment or refund than the one that was asked for. */
  #lie(reply: Reply | undefined, fault: Fault, sent: Sent): Exchange {
    const body = reply?.body;
    if (!isFields(body) || !isFields(body.data)) return this.#answer(reply);
    const data = { ...body.data };
    if (fault.kind === "other amount" && typeof data.amount === "number")
      data.amount = Math.round(data.amount * 100 + 1) / 100;
    for (const name of ["merchantRef", "transactionId"])
      if (
        fault.kind === "other reference" &&
        typeof data[name] === "string" &&
        sent.kind !== "payment"
      )
        data[name] = "another";
    // A response for another reference is not about this payout (P15b).
    const isMixedUp = fault.kind === "other reference" && sent.kind === "payout";
    if (!isMixedUp) for (const subject of sent.tool.subjects) this.#universe.lied.add(subject);
    return this.#raw(200, JSON.stringify({ success: true, data }));
  }

  #retryAfter({ pick }: Fault): Record<string, string> {
    if (pick % 3 === 0) return {};
    const dateMs = this.#universe.timeline.now() + this.#universe.skewMs + 5_000;
    return { "retry-after": pick % 3 === 1 ? "3" : new Date(dateMs).toUTCString() };
  }

  #answer(reply: Reply | undefined): Exchange {
    return this.#raw(reply?.status ?? 500, JSON.stringify(reply?.body ?? {}));
  }

  #raw(status: number, text: string, headers: Record<string, string> = {}): Exchange {
    const date = new Date(this.#universe.timeline.now() + this.#universe.skewMs).toUTCString();
    return { kind: "answer", status, headers: { date, ...headers }, text };
  }

  /** What is proved not sent is certain; a record that was not retrieved is not. */
  #note(tool: Tool, request: Request, fault: Fault): void {
    this.#universe.note(
      `${tool.name} ${request.method} ${request.url.pathname}: ${fault.kind}${fault.acts ? ", acts" : ""} ${fault.pick}`,
    );
    const isRead = request.method === "GET";
    // A refund whose access is denied has no reference to try again with.
    const isDenied =
      fault.kind === "refused" &&
      request.url.pathname.includes("/refund/create") &&
      [401, 403].includes(picked(refusals, fault.pick));
    const isCertain =
      !isDenied && ["not sent", "refused", "success: false", "slow"].includes(fault.kind);
    if (isRead || !isCertain) this.#universe.doubts(tool);
  }
}

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function broken(sent: boolean, reason: Extract<Exchange, { kind: "broken" }>["fault"]["reason"]) {
  return { kind: "broken" as const, sent, fault: { reason, code: "SIMULATED" } };
}
