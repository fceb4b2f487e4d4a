import { performance } from 'node:perf_hooks';

/** Node's own: with a fake timer a silent server would be awaited for ever. */
const { setTimeout, clearTimeout } = globalThis;

/**
 * ms from the first call of a store until it must be connected and have answered. Calls wait that long for it, even if their deadline
 * is shorter: the first call of a new process pays for the connection, the login and the script.
 */
export const FIRST_CONNECTION_MS = 2_000;

/** The time limit for the very first connection of a store. */
export class FirstConnection {
  #over = false;
  #until: number | undefined;

  /** ms of the monotonic clock; undefined once connected, or when the time is over. The first read starts the time. */
  get until(): number | undefined {
    if (this.#over) return undefined;
    const now = performance.now();
    this.#until ??= now + FIRST_CONNECTION_MS;
    if (now >= this.#until) this.#over = true;
    return this.#over ? undefined : this.#until;
  }

  /** The store is connected, or must not be awaited any longer. */
  end(): void {
    this.#over = true;
  }
}

/** Resolves or rejects like `work`, but rejects with `late()` if it takes longer than a first connection may. */
export async function withinFirstConnection<T>(work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), FIRST_CONNECTION_MS);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
