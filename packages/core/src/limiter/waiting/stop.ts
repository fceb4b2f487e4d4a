/** The listeners of a signal, behind one event listener. */
class Watch extends Set<() => void> {
  handleEvent(): void {
    for (const listener of [...this]) listener();
  }
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `listener` when the signal is aborted. Returns a function that removes the listener. All waits of a signal share one event
 * listener, because Node warns of a leak from the eleventh on. The last removal also removes that one.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  const watch = watches.get(signal) ?? new Watch();
  watches.set(signal, watch);
  signal.addEventListener('abort', watch, { once: true }); // does nothing for a watch that is registered
  watch.add(listener);
  return () => {
    if (!watch.delete(listener) || watch.size > 0) return;
    signal.removeEventListener('abort', watch);
    watches.delete(signal);
  };
}

/** Ends one wait, by the caller's signal or by `abort`. Its own signal exists only once something waits: creating one takes longer than many a decision. */
export class Stop {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  #ignore = (): void => {};

  /** @param given the caller's signal, not aborted yet */
  constructor(readonly given: AbortSignal | undefined) {}

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    if (this.isAborted) controller.abort(this.reason);
    else this.#ignore = onAbort(this.given, () => controller.abort(this.given!.reason));
    return controller.signal;
  }

  get isAborted(): boolean {
    return this.#aborted !== undefined || this.given?.aborted === true;
  }

  get reason(): unknown {
    return this.#aborted === undefined ? this.given?.reason : this.#aborted.reason;
  }

  throwIfAborted(): void {
    if (this.isAborted) throw this.reason;
  }

  abort(reason: unknown): void {
    if (this.isAborted) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }

  /** The wait is over. */
  end(): void {
    this.#ignore();
  }
}
