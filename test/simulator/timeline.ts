/**
 * Simulated time, in whole milliseconds as a real clock shows it. It moves only when a caller
 * sleeps or waits; what is due happens on the way.
 */
export class Timeline {
  #nowMs = Date.parse("2026-11-20T06:00:00.123Z");
  #later: { atMs: number; happens: () => void }[] = [];

  now(): number {
    return this.#nowMs;
  }

  later(delayMs: number, happens: () => void): void {
    this.#later.push({ atMs: this.#nowMs + delayMs, happens });
    this.#later.sort((a, b) => a.atMs - b.atMs);
  }

  advance(ms: number): void {
    const endMs = this.#nowMs + Math.ceil(Math.max(0, ms));
    for (let next = this.#later[0]; next && next.atMs <= endMs; next = this.#later[0]) {
      this.#later.shift();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.happens();
    }
    this.#nowMs = endMs;
  }
}
