interface Retiring {
  readonly busy?: boolean;
  close(): Promise<void>;
}

/** Time within which requests that began under an earlier version are decided, ms. */
const GRACE = 60_000;

/** Limiters that no version uses, kept until no request uses them. */
export class Retired {
  readonly #waiting = new Map<Retiring, NodeJS.Timeout>();

  /** Adds a value, once. @param closed called when the value is closed */
  add(retiring: Retiring, closed = () => {}): void {
    if (this.#waiting.has(retiring)) return;
    const timer = setTimeout(() => {
      this.#waiting.delete(retiring);
      if (retiring.busy) return this.add(retiring, closed);
      closed();
      void retiring.close();
    }, GRACE).unref();
    this.#waiting.set(retiring, timer);
  }

  /** Removes a value that a version uses again. */
  delete(retiring: Retiring): void {
    clearTimeout(this.#waiting.get(retiring));
    this.#waiting.delete(retiring);
  }

  async close(): Promise<void> {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    await Promise.all([...this.#waiting.keys()].map((retiring) => retiring.close()));
    this.#waiting.clear();
  }
}
