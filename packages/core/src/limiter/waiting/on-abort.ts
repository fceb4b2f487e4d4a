/** The listeners of a signal, behind one event listener. */
class Watch {
  readonly listeners = new Set<() => void>();

  handleEvent(): void {
    for (const listener of [...this.listeners]) listener();
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
  watch.listeners.add(listener);
  return () => {
    if (!watch.listeners.delete(listener) || watch.listeners.size > 0) return;
    signal.removeEventListener('abort', watch);
    watches.delete(signal);
  };
}
