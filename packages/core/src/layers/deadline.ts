import { LONGEST_TIMER } from '../clock.js';
import type { Answer } from '../decisions/call.js';
import { StoreUnavailableError } from '../errors.js';
import { Asking } from '../stores/asking.js';
import type { Asked, Store } from '../stores/store.js';
import { Deadlines, timed } from './deadlines.js';

/** A store that takes calls as they are on their way. */
export interface AskedStore extends Store {
  ask(asking: Asking): void;
}

/**
 * A store whose every answer comes within `micros` or is an error; the time it takes to load a client's package is not counted. A call that had left before is counted or not, at most
 * once; one that had not left (no connection yet) never leaves. A late answer is ignored.
 */
export function withDeadline(store: Store, micros: number): Store {
  return store.remote ? bounded(store, micros) : store;
}

/** The same of a remote store. */
export function bounded(store: Store, micros: number): AskedStore {
  const ms = Math.min(LONGEST_TIMER, Math.max(1, Math.round(micros / 1000)));
  const deadlines = new Deadlines(ms);

  /** Where there is no connection, that is why. */
  const late = (): StoreUnavailableError => {
    const cause = store.health?.connectionError();
    const message = `${store.name} store: no answer within ${ms} ms`;
    return cause === undefined
      ? new StoreUnavailableError(message, { reason: 'timeout', late: true })
      : new StoreUnavailableError(`${message} (${cause.message})`, {
          reason: 'connection',
          late: true,
          cause,
        });
  };

  const race = <T>(ask: (asked: Asked) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const asked: Asked = { deadline: ms };
      const wait = timed(() => {
        asked.abandoned = true;
        reject(late());
      });
      deadlines.begin(wait);
      ask(asked)
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
  const asking = async <T>(ask: (asked: Asked) => Promise<T>): Promise<T> => {
    if (loading !== undefined) await loading;
    return race(ask);
  };

  const begin = (call: Asking) => {
    call.within(deadlines, ms, late);
    ask(store, call);
  };

  return {
    name: store.name,
    remote: true,
    get slotted() {
      return store.slotted;
    },
    clock: store.clock,
    ask(call) {
      if (loading === undefined) begin(call);
      else
        loading.then(
          () => begin(call),
          (error) => call.failed(error),
        );
    },
    decide(call) {
      const asking = new Asking(call);
      this.ask(asking);
      return asking.promise;
    },
    rate: (change) => asking((asked) => store.rate(change, asked)),
    // Who comes too late to listen must not listen for ever.
    listen: (key, granted) =>
      asking(async (asked) => {
        const stop = await store.listen(key, granted);
        if (asked.abandoned) stop();
        return stop;
      }),
    close: () => store.close(),
  };
}

function ask(store: Store, asking: Asking): void {
  if (store.ask === undefined) {
    // Within a promise, so that what is thrown at once is told as what is rejected.
    new Promise<Answer>((resolve) => resolve(store.decide(asking.call, asking))).then(
      (answer) => asking.answered(answer),
      (error) => asking.failed(error),
    );
  } else {
    store.ask(asking);
  }
}
