import { LONGEST_TIMER } from '../clock.js';
import type { Answer } from '../engine/call.js';
import { StoreUnavailableError } from '../errors.js';
import { FIRST_CONNECTION_MS } from '../stores/redis/client.js';
import type { RateChange } from '../stores/shared-rate.js';
import type { Asked, Store } from '../stores/store.js';
import { around } from './around.js';
import { type Asking, ask, Passing } from './asking.js';
import { Budget } from './budget.js';
import { Deadlines, type Timed, timed } from './deadlines.js';

/** A call that waits for its answer for a limited time. */
export class Limited extends Passing implements Timed {
  due = 0;
  spared = false;
  before: Timed | undefined;
  after: Timed | undefined;
  unsent = false;
  #over = false;
  #within: Within | undefined;

  /** From now on its time runs. */
  begin(within: Within, until?: number): void {
    this.#within = within;
    if (this.budget === undefined) within.deadlines.begin(this, until);
    else this.budget.stage(() => this.expire());
  }

  override get abandoned(): boolean {
    return this.#over || this.asking.abandoned;
  }

  override get deadline(): number | undefined {
    return this.#within?.ms ?? this.asking.deadline;
  }

  expire(): void {
    this.failed(this.#within!.late(this.unsent));
  }

  answered(answer: Answer): void {
    if (this.end()) this.asking.answered(answer);
  }

  failed(error: unknown): void {
    if (this.end()) this.asking.failed(error);
  }

  /** @returns whether it had not ended before */
  protected end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#within?.deadlines.end(this);
    return true;
  }
}

/** How long a call has, and what it fails with then. */
interface Within {
  readonly ms: number;
  readonly deadlines: Deadlines;
  late(neverSent?: boolean): StoreUnavailableError;
}

/** A store that limits the time of calls. */
interface LimitingStore extends Store {
  ask(asking: Asking): void;
  /** The same for a call that is ready to be limited. */
  limit(call: Limited): void;
  /** The error of a call whose time is over. */
  late(neverSent?: boolean): StoreUnavailableError;
}

/**
 * Bounds a remote store: every call resolves or rejects within `micros`. Loading the client's package does not count. Calls before
 * the very first connection wait for it, until `firstConnectionUntil`. After a timeout, a call that was sent may have been counted
 * once; a call that was not sent yet is never sent. A late answer is ignored.
 */
export function withDeadline(store: Store, micros: number): Store {
  return store.remote ? bounded(store, micros) : store;
}

/** The same of a remote store. */
export function bounded(store: Store, micros: number): LimitingStore {
  const ms = Math.min(LONGEST_TIMER, Math.max(1, Math.round(micros / 1000)));
  const usual: Within = { ms, deadlines: new Deadlines(ms), late: (neverSent) => late(ms, neverSent) };
  const longer = Math.max(ms, FIRST_CONNECTION_MS);
  // Separate from the usual deadlines, which may be over sooner.
  const first: Within = { ms, deadlines: new Deadlines(ms), late: (neverSent) => late(longer, neverSent) };

  /** Where there is no connection, that is why. */
  const late = (waited: number, neverSent = false): StoreUnavailableError => {
    const cause = store.health?.connectionError();
    const message = `${store.name} store: no answer within ${waited} ms`;
    return cause === undefined
      ? new StoreUnavailableError(message, { reason: 'timeout', late: true, neverSent })
      : new StoreUnavailableError(`${message} (${cause.message})`, {
          reason: 'connection',
          late: true,
          neverSent,
          cause,
        });
  };

  const race = <T>(asks: (asked: Asked) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const asked: Asked = { deadline: ms };
      const until = store.firstConnectionUntil;
      const { deadlines, late } = until === undefined ? usual : first;
      const wait = timed(() => {
        asked.abandoned = true;
        reject(late());
      });
      deadlines.begin(wait, until);
      asks(asked)
        .then(resolve, reject)
        .finally(() => deadlines.end(wait));
    });
  let { loading } = store;
  loading?.then(
    () => {
      loading = undefined;
    },
    () => {}, // each call tells
  );
  const inTime = async <T>(asks: (asked: Asked) => Promise<T>): Promise<T> => {
    if (loading !== undefined) await loading;
    return race(asks);
  };

  const start = (budget: Timed): Deadlines => {
    const until = store.firstConnectionUntil;
    const { deadlines } = until === undefined ? usual : first;
    deadlines.begin(budget, until);
    return deadlines;
  };
  const begin = (call: Limited) => {
    const until = store.firstConnectionUntil;
    call.begin(until === undefined ? usual : first, until);
    if (!call.abandoned) ask(store, call);
  };
  const limit = (call: Limited) => {
    if (loading === undefined) {
      begin(call);
      return;
    }
    loading.then(
      () => begin(call),
      (error) => call.failed(error),
    );
  };

  return around(store, {
    limit,
    late: usual.late,
    budget: () => new Budget(start),
    ask: (asking: Asking) => limit(new Limited(asking)),
    rate: (change: RateChange) => inTime((asked) => store.rate(change, asked)),
  });
}
