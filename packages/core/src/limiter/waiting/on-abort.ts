interface Watch {
  readonly listeners: Set<() => void>;
  /** Takes our listener off the signal. */
  end(): void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `listener` when the signal is aborted, until the function it returns is called. Any number of waits may share a
 * signal: there is one listener on it for all, or Node would warn of a leak from the eleventh on. It goes with the last of them.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  const { listeners, end } = watches.get(signal) ?? watch(signal);
  listeners.add(listener);
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) end();
  };
}

function watch(signal: AbortSignal): Watch {
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const end = () => {
    signal.removeEventListener('abort', tell);
    watches.delete(signal);
  };
  signal.addEventListener('abort', tell, { once: true });
  const watching = { listeners, end };
  watches.set(signal, watching);
  return watching;
}
