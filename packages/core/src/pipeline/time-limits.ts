import { performance } from 'node:perf_hooks';
import { FIRST_CONNECTION_MS, LONGEST_TIMER } from '../clock.js';
import { StoreUnavailableError } from '../errors.js';
import type { Store } from '../stores/store.js';
import { CallDeadline, Deadlines } from './deadlines.js';

/**
 * Limits of the timeout of a health probe, µs. Its answer holds for all limiters of the store, so it does not depend on the deadline of
 * the one whose call failed.
 */
const SHORTEST_PROBE = 100_000;
const LONGEST_PROBE = 5_000_000;

/** How long the calls of one pipeline may take. */
export class TimeLimits {
  readonly #store: Store;
  readonly usual: Deadlines;
  /** While the very first connection is awaited: these may be over later than the others. */
  readonly first: Deadlines;
  readonly probe: Deadlines;

  /** @param deadline µs */
  constructor(store: Store, deadline: number) {
    this.#store = store;
    const ms = toTimer(deadline);
    const probe = toTimer(Math.min(LONGEST_PROBE, Math.max(SHORTEST_PROBE, deadline)));
    this.usual = this.#listOf(ms, ms);
    this.first = this.#listOf(ms, Math.max(ms, FIRST_CONNECTION_MS));
    this.probe = this.#listOf(probe, probe);
  }

  /** A deadline of a call that may ask more than once. It has not begun yet. */
  newDeadline(limits?: Deadlines): CallDeadline {
    return new CallDeadline((deadline) => {
      const until = this.#store.firstConnectionUntil;
      const list = limits ?? (until === undefined ? this.usual : this.first);
      list.begin(deadline, performance.now(), until);
      return list;
    });
  }

  #listOf(ms: number, waited: number): Deadlines {
    return new Deadlines(ms, (neverSent) => this.#late(waited, neverSent));
  }

  /** Without a connection, that is the reason. */
  #late(ms: number, neverSent: boolean): StoreUnavailableError {
    const { name, health } = this.#store;
    const cause = health?.connectionError();
    const message = `${name} store: no answer within ${ms} ms`;
    return cause === undefined
      ? new StoreUnavailableError(message, { reason: 'timeout', late: true, neverSent })
      : new StoreUnavailableError(`${message} (${cause.message})`, {
          reason: 'connection',
          late: true,
          neverSent,
          cause,
        });
  }
}

const toTimer = (micros: number): number => Math.min(LONGEST_TIMER, Math.max(1, Math.round(micros / 1000)));
