import supertest from 'supertest';
import {
  type Duration,
  type FixedWindowPolicy,
  fixedWindow,
  isStoreUnavailableError,
  ManualClock,
  type Policy,
  RateLimiter,
  type Store,
} from '../../../packages/core/src/index.js';
import { like } from '../../support/like.js';
import { uniqueName } from '../../support/redis-url.js';
import { within } from '../../support/within.js';
import { memory, redisByAddress } from '../store/openers.js';
import type { Ability, Framework, Limit, Running, Service } from './frameworks/framework.js';
import * as entries from './frameworks/index.js';

/** Where a limit counts. */
export interface LimitStorage {
  readonly name: string;
  readonly store: Store;
  readonly keyPrefix: string;
  readonly deadline: Duration;
}

type TestOf = (title: string, run: () => Promise<void>) => void;

/** What the tests of an adapter work with. */
export interface Tools extends Required<Pick<Framework, 'names' | 'methodOf' | 'socketOf' | 'decisionOf'>> {
  /** Serves until the end of the test. Limits that name no limiter and no store count in the test's own place. */
  start(service: Service): Promise<ReturnType<typeof supertest>>;
  /** The address of the service that was started last. */
  url(): string;
  /** Starts another service beside it; the caller closes it. */
  serve(service: Service): Promise<Running>;
  /** The test's own place, on the clock that `advance` moves. */
  place(name?: string): LimitStorage;
  /** What another process would have open there; the caller closes its store. */
  elsewhere(name?: string): LimitStorage;
  /** A limiter there, which is closed when the test ends. */
  limiter(name: string, policy: Policy): RateLimiter;
  advance(by: Duration): Promise<void>;
  /** Resolves when this number of waits have begun in this test. */
  asleep(waits: number): Promise<void>;
  /** `test`, which is skipped in a framework that cannot do this. */
  needs(ability: Ability): Pick<jest.It, 'each'> & TestOf;
  /** A header of what functions of a limit get first. */
  headerOf(request: unknown, name: string): string | undefined;
}

export const frameworks: readonly Framework[] = Object.values(entries);

/**
 * `limit` permits in an hour of a clock that only the test moves. Hours, because what lies in Redis must not expire by the
 * server's own clock meanwhile.
 */
export const hourly = (limit: number): FixedWindowPolicy => fixedWindow({ limit, window: '1h' });

/** Resolves when a call has begun to wait. */
class WatchedClock extends ManualClock {
  #begun = 0;
  #watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  override sleep(micros: number, signal?: AbortSignal): Promise<void> {
    this.#begun += 1;
    for (const { count, resolve } of this.#watchers) if (count <= this.#begun) resolve();
    return super.sleep(micros, signal);
  }

  begun(count: number): Promise<void> {
    if (count <= this.#begun) return Promise.resolve();
    const begun = new Promise<void>((resolve) => this.#watchers.push({ count, resolve }));
    return within(begun, () => `${count} waits begin; ${this.#begun} did`);
  }
}

/** The store, which writes down why calls failed. */
function reporting(store: Store, outages: string[]): Store {
  if (!store.remote) return store;
  return like(store, {
    decide: async (call, caller) => {
      try {
        return await store.decide(call, caller);
      } catch (error) {
        if (isStoreUnavailableError(error)) outages.push(`${error.reason}: ${error.message}`);
        throw error;
      }
    },
  });
}

const kinds = { memory, Redis: redisByAddress };

/** Less than the time of a test, so that the error names the request that got no response. */
const RESPONSE_MS = 30_000;

/** The client, whose requests fail when they get no response. */
function withTimeouts(client: ReturnType<typeof supertest>): ReturnType<typeof supertest> {
  for (const method of ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const) {
    const send = client[method];
    client[method] = (path) => send(path).timeout(RESPONSE_MS);
  }
  return client;
}

/** `test.skip`, with the reason in each title. */
const skipBecause = (reason: string): Pick<jest.It, 'each'> & TestOf => {
  const skip: TestOf = (title, run) => test.skip(`${title} (${reason})`, run);
  const each = ((table: readonly unknown[]) => (title: string, run: () => Promise<void>) =>
    test.skip.each(table)(`${title} (${reason})`, run)) as jest.Each;
  return Object.assign(skip, { each });
};

interface Case {
  readonly name: string;
  readonly framework: Framework;
  readonly kind: keyof typeof kinds;
}

let wanted = (_: Case) => true;

/** Chooses the cases of the test file, before it loads its suites. */
export function runOnly(filter: (each: Case) => boolean): void {
  wanted = filter;
}

/** These cases run in `npm test`: each framework in memory, except Express 4, and Express 5 on Redis. `lasting.deep.test.ts` runs the others. */
export const isQuick = ({ name, kind }: Case): boolean =>
  kind === 'memory' ? name !== 'Express 4' : name === 'Express 5';

/** What every adapter must do, on every kind of store. */
export function onEachAdapter(
  tests: (tools: Tools) => void,
  stores: readonly (keyof typeof kinds)[] = ['memory', 'Redis'],
): void {
  const cases = frameworks.flatMap((framework) =>
    stores.map((kind): Case => ({ name: framework.name, framework, kind })),
  );
  describe.each(cases.filter(wanted))('$name, $kind', ({ framework, kind }) => {
    const { serve, names, headersOf, ...reads } = framework;
    const cannot = {
      ...(names === undefined && { names: 'it has no names of its own' }),
      ...framework.cannot,
    };
    let clock: WatchedClock;
    let store: Store;
    let keyPrefix: string;
    let open: { close(): Promise<unknown> }[] = [];
    let running: Running;
    /** Why the server gave no answer: no test of this place takes its server away, and a status alone does not name the reason. */
    let outages: string[];

    beforeEach(() => {
      clock = new WatchedClock();
      outages = [];
      store = reporting(kinds[kind].open(clock), outages);
      keyPrefix = uniqueName('contract');
      open = [store];
    });
    afterEach(async () => {
      for (const thing of open.splice(1).reverse()) await thing.close();
      await givenBack();
      await store.close();
      expect(outages).toEqual([]);
    });

    /** Waits until finished requests have given back their permits: a later call uses the same connection, so it comes after that. */
    const givenBack = async () => {
      const last = new RateLimiter({ ...place('last'), policy: hourly(1) });
      for (let trip = 0; trip < 2; trip += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        await last.peek('k');
      }
      await last.close();
    };

    const place = (name = 'default', at = store): LimitStorage => ({
      name,
      store: at,
      keyPrefix,
      deadline: '10s',
    });
    const placed = (limit: Limit): Limit =>
      limit.limiter === undefined && limit.store === undefined && limit.rules === undefined
        ? { ...place(), ...limit }
        : limit;

    tests({
      ...reads,
      names: names ?? { limit: 'limit', window: 'window' },
      headerOf: (request, name) => headersOf(request)[name] as string | undefined,
      needs: (ability) => (cannot[ability] === undefined ? test : skipBecause(cannot[ability])),
      start: async ({ limits = [], scopes = [], ...service }) => {
        running = await serve({
          ...service,
          limits: limits.map(placed),
          scopes: scopes.map(({ limits: own = [], routes, ...scope }) => ({
            ...scope,
            limits: own.map(placed),
            routes: Object.fromEntries(
              Object.entries(routes).map(([path, each]) => [path, each.map(placed)]),
            ),
          })),
        });
        open.push(running);
        return withTimeouts(supertest(running.url));
      },
      url: () => running.url,
      serve,
      place: (name) => place(name),
      elsewhere: (name) => place(name, kinds[kind].another(store, clock)),
      limiter: (name, policy) => {
        const limiter = new RateLimiter({ ...place(name), policy });
        open.push(limiter);
        return limiter;
      },
      advance: (by) => clock.advance(by),
      asleep: (waits) => clock.begun(waits),
    });
  });
}
