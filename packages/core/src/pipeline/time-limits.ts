import { performance } from '#platform';
import { CallDeadline, Deadlines } from '../call/deadlines.js';
import { FIRST_CONNECTION_MS, LONGEST_TIMER } from '../clock.js';
import { StoreUnavailableError } from '../errors.js';
import type { Store } from '../stores/store.js';

/**
 * Bounds of the timeout of a health probe, µs. The result is for all limiters of the store, so a very short or long deadline of one
 * limiter must not decide.
 */
const SHORTEST_PROBE = 100_000;
const LONGEST_PROBE = 5_000_000;

/** How long the calls of one pipeline may take. */
export class TimeLimits {
  readonly usual: Deadlines;
  /** Used until the first connection: these deadlines may end later. */
  readonly first: Deadlines;
  readonly probe: Deadlines;

  /** @param deadline µs */
  constructor(
    readonly store: Store,
    deadline: number,
  ) {
    const ms = toTimer(deadline);
    const probe = toTimer(Math.min(LONGEST_PROBE, Math.max(SHORTEST_PROBE, deadline)));
    const listOf = (length: number, waited = length) =>
      new Deadlines(length, (neverSent) => lateError(store, waited, neverSent));
    this.usual = listOf(ms);
    this.first = listOf(ms, Math.max(ms, FIRST_CONNECTION_MS));
    this.probe = listOf(probe);
  }

  /** A deadline of a call that may need several requests. It has not begun yet. */
  newDeadline(limits?: Deadlines): CallDeadline {
    return new CallDeadline((deadline) => {
      const until = this.store.firstConnectionUntil;
      const list = limits ?? (until === undefined ? this.usual : this.first);
      list.begin(deadline, performance.now(), until);
      return list;
    });
  }
}

/** If there is no connection, that is the reason. */
function lateError({ name, health }: Store, ms: number, neverSent: boolean): StoreUnavailableError {
  const cause = health?.connectionError();
  const why = cause === undefined ? '' : ` (${cause.message})`;
  return new StoreUnavailableError(`${name} store: no answer within ${ms} ms${why}`, {
    reason: cause === undefined ? 'timeout' : 'connection',
    late: true,
    neverSent,
    ...(cause && { cause }),
  });
}

const toTimer = (micros: number): number => Math.min(LONGEST_TIMER, Math.max(1, Math.round(micros / 1000)));
