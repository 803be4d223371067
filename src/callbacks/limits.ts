/** What a stranger may cost this machine and the service: callbacks come from anywhere. */
export interface Limits {
  /** Of one body; honest ones have some hundred bytes. */
  bodyBytes: number;
  /** From a request's first byte to its last. */
  requestMs: number;
  connections: number;
  /** Callbacks that wait to be verified; one more is told to come later. */
  queue: number;
  /** How many are verified at the same time. */
  atOnce: number;
  /** Between one retrieve and the next. */
  retrievePauseMs: number;
  /** How long whoever a callback is passed on to may take. */
  forwardMs: number;
  /** When a sender that still waits is told to come later. */
  answerMs: number;
}

export const usualLimits: Limits = {
  bodyBytes: 64 * 1024,
  requestMs: 10_000,
  connections: 200,
  queue: 100,
  atOnce: 4,
  retrievePauseMs: 100,
  forwardMs: 15_000,
  answerMs: 25_000,
};
