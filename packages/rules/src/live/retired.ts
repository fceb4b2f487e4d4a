interface Retiring {
  readonly busy?: boolean;
  close(): Promise<void>;
}

/** ms within which requests that began under a version before are decided. */
const GRACE = 60_000;

/** What no version uses any more, until no request uses it either. */
export class Retired {
  readonly #waiting = new Map<Retiring, NodeJS.Timeout>();

  /** Adds something, once. @param closed called when it is closed */
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

  /** It is used again. */
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
