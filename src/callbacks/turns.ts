import { openGate } from "./pace.ts";

/** When something is done with a callback: so many at once, and each callback by one at a time. */
export interface Turns {
  /** Gives a callback its turn: resolves with what `work` answers, which may go on after that. */
  begin(number: number, work: (answer: (status: number) => void) => Promise<void>): Promise<number>;
  /** One more turn for all that come during this one, 503 if it fails; undefined if there is none. */
  after(number: number, next: () => Promise<number>): Promise<number> | undefined;
  isUnderWay(number: number): boolean;
  /** How many wait for their turn. */
  waiting(): number;
  /** Resolves once nothing is under way. */
  idle(): Promise<void>;
}

export function openTurns(atOnce: number): Turns {
  const gate = openGate(atOnce);
  const underWay = new Map<number, Turn>();
  return {
    begin(number, work) {
      let answer = (_: number): void => {};
      const status = new Promise<number>((resolve) => {
        answer = resolve;
      });
      const done = gate.through(() => work(answer)).finally(() => underWay.delete(number));
      underWay.set(number, { done, next: undefined });
      return status;
    },

    after(number, next) {
      const turn = underWay.get(number);
      if (turn) turn.next ??= turn.done.then(next).catch(() => 503);
      return turn?.next;
    },

    isUnderWay: (number) => underWay.has(number),

    waiting: gate.waiting,

    async idle() {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}

interface Turn {
  /** Resolves when nothing more comes of it. */
  done: Promise<void>;
  /** The turn after this one, for all that came meanwhile. */
  next: Promise<number> | undefined;
}
