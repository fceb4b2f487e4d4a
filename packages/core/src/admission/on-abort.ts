const watched = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when the signal is aborted, until the function it returns is called. Any number of waits may share a
 * signal: there is one listener on it for all, or Node would warn of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  let listeners = watched.get(signal);
  if (listeners === undefined) {
    const all = new Set<() => void>();
    watched.set(signal, all);
    signal.addEventListener(
      'abort',
      () =>
        [...all].forEach((tell) => {
          tell();
        }),
      { once: true },
    );
    listeners = all;
  }
  listeners.add(listener);
  return () => listeners.delete(listener);
}
