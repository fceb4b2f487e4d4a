import { LONGEST_TIMER } from '../clock.js';
import { StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Asked, Store } from '../stores/store.js';
import { Deadlines } from './deadlines.js';

/**
 * A store whose every answer comes within `micros` or is an error; the time it takes to load a client's package is not counted. A call that had left before is counted or not, at most
 * once; one that had not left (no connection yet) never leaves. A late answer is ignored.
 */
export function withDeadline(store: Store, micros: number): Store {
  if (!store.remote) return store;
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

  const race = <T>(ask: (asked: Asked) => MaybePromise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const asked: Asked = { deadline: ms };
      const stop = deadlines.begin(() => {
        asked.abandoned = true;
        reject(late());
      });
      Promise.resolve(ask(asked)).then(
        (answer) => {
          stop();
          resolve(answer);
        },
        (error) => {
          stop();
          reject(error);
        },
      );
    });
  let { loading } = store;
  loading?.then(
    () => {
      loading = undefined;
    },
    () => {}, // each call tells
  );
  const asking = <T>(ask: (asked: Asked) => MaybePromise<T>): Promise<T> =>
    loading === undefined ? race(ask) : loading.then(() => race(ask));

  return {
    name: store.name,
    remote: true,
    get slotted() {
      return store.slotted;
    },
    clock: store.clock,
    decide: (call) => asking((asked) => store.decide(call, asked)),
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
