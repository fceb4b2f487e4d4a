import { performance } from 'node:perf_hooks';

/** Node's own: under a fake one a server that says nothing would be waited for without end. */
const { setTimeout, clearTimeout } = globalThis;

/**
 * ms that a store has, from its first call on, to be connected and answer for the first time. Calls made meanwhile wait so long, whatever
 * their deadline: a process that has just started pays for the connection, the login and the script with its first call.
 */
export const FIRST_CONNECTION_MS = 2_000;

/** Until when calls wait for the very first connection of a store. */
export class FirstConnection {
  #over = false;
  #until: number | undefined;

  /** ms of the monotonic clock; undefined when it is there, or was waited for long enough. The time runs from the first look. */
  get until(): number | undefined {
    if (this.#over) return undefined;
    const now = performance.now();
    this.#until ??= now + FIRST_CONNECTION_MS;
    if (now >= this.#until) this.#over = true;
    return this.#over ? undefined : this.#until;
  }

  /** It is there, or need not be waited for. */
  end(): void {
    this.#over = true;
  }
}

/** What `work` gives; rejects with what `late` makes when that takes longer than a first connection may. */
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
