import {
  concurrency,
  fixedWindow,
  gcra,
  isStoreUnavailableError,
  type RateLimiter,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { NO_OUTAGE } from '../../support/redis/redis-cluster.js';
import { uniqueName } from '../../support/redis-url.js';
import { eventually, KINDS, OwnCluster } from './own-cluster.js';

const own = new OwnCluster({ args: NO_OUTAGE });

/** Sums a field of INFO over all nodes. */
async function total(section: string, pattern: RegExp): Promise<number> {
  const infos = await Promise.all(own.nodes.map(({ ask }) => ask('INFO', section)));
  const numbers = infos.flatMap((info) =>
    [...String(info).matchAll(pattern)].map(([, number]) => Number(number)),
  );
  return numbers.reduce((sum, number) => sum + number, 0);
}
const answered = (error: 'ASK' | 'MOVED' | 'TRYAGAIN') =>
  total('errorstats', new RegExp(`errorstat_${error}:count=(\\d+)`, 'g'));

/** Waits until the nodes have got some more calls, which they decide or redirect. */
async function moreCalls(): Promise<void> {
  const calls = async () =>
    (await total('commandstats', /cmdstat_evalsha:calls=(\d+)/g)) +
    (await total('commandstats', /cmdstat_evalsha:.*rejected_calls=(\d+)/g));
  const before = await calls();
  await eventually(async () => (await calls()) >= before + 5);
}

/** Calls from several callers while a slot moves around the three nodes and back, then until Redis denies all. */
async function duringJourney<T>(
  slot: number,
  start: number,
  callers: (() => Promise<T | false>)[],
): Promise<T[]> {
  let under = true;
  const passed: T[] = [];
  const calling = callers.map(async (call) => {
    for (let going: boolean = true; going; ) {
      try {
        const answer = await call();
        if (answer !== false) passed.push(answer);
        going = under || answer !== false;
      } catch (error) {
        // A call that rejected after too many redirections did not count.
        if (!isStoreUnavailableError(error) || !/Too many Cluster redirections/.test(error.message))
          throw error;
      }
    }
  });
  const journey = async () => {
    for (let stage = start; stage < start + 3; stage += 1) {
      await own.move(slot, own.nodes[stage % 3]!, own.nodes[(stage + 1) % 3]!, moreCalls);
      await moreCalls();
    }
  };
  await Promise.all([...calling, journey().finally(() => (under = false))]);
  return passed;
}

describe.each(KINDS)('while a slot moves from node to node, $name', (kind) => {
  const limitersOf = (options: Parameters<typeof own.limiter>[0]): RateLimiter[] => {
    const name = uniqueName('moving');
    return [1, 2, 3, 4].map(() =>
      own.limiter({ name, store: own.store(kind), denyCache: false, ...options }),
    );
  };
  const consuming = (limiter: RateLimiter, key: string) => async () => {
    const { allowed, policies } = await limiter.consume(key);
    return allowed && policies.map(({ remaining }) => remaining).join();
  };

  test('exactly the limit passes under load', async () => {
    const limiters = limitersOf({ policy: fixedWindow({ limit: 100, window: '1h' }) });
    const key = await own.keyOn(own.nodes[0]!);
    const [asks, moves] = [await answered('ASK'), await answered('MOVED')];
    const callers = limiters.map((limiter) => consuming(limiter, key));
    const passed = await duringJourney(await own.slotOf(key), 0, [...callers, ...callers]);
    expect(passed).toHaveLength(100);
    expect(new Set(passed).size).toBe(100);
    // Calls were redirected:
    expect(await answered('ASK')).toBeGreaterThan(asks);
    expect(await answered('MOVED')).toBeGreaterThan(moves);
  });

  test('calls with several policies retry until their keys are on one node again', async () => {
    const policies = {
      few: fixedWindow({ limit: 20, window: '1h' }),
      some: gcra({ limit: 30, period: '10h' }),
      many: fixedWindow({ limit: 1000, window: '1h' }),
    };
    const limiters = limitersOf({ policies });
    const key = await own.keyOn(own.nodes[1]!);
    const again = await answered('TRYAGAIN');
    const callers = limiters.map((limiter) => consuming(limiter, key));
    const passed = await duringJourney(await own.slotOf(key), 1, callers);
    expect(passed).toHaveLength(20);
    expect((await limiters[0]!.peek(key)).policies.map(({ remaining }) => remaining)).toEqual([0, 10, 980]);
    expect(await answered('TRYAGAIN')).toBeGreaterThan(again);
  });

  test('a shared limit moves with its rate', async () => {
    const name = uniqueName('moving');
    const limiters = [1, 2].map(() =>
      own.open(new SharedLimiter({ name, store: own.store(kind), deadline: '10s' })),
    );
    await limiters[0]!.trySetRate({ rate: 15, interval: '1h' });
    const home = (await own.keys(name)).findIndex(({ length }) => length > 0);
    const callers = limiters.map((limiter) => () => limiter.tryAcquire());
    expect(await duringJourney(await own.slotOf(name), home, callers)).toHaveLength(15);
    expect(await limiters[0]!.availablePermits()).toBe(0);
  });

  test('a release on the new node wakes a waiting call', async () => {
    const [holder, waiter] = limitersOf({ policy: concurrency({ limit: 1, lease: '1h' }) });
    const key = await own.keyOn(own.nodes[2]!);
    const held = await holder!.acquire(key);
    const waiting = waiter!.acquire(key);
    await waiter!.peek(key); // resolves after the waiting call is in the queue
    const slot = await own.slotOf(key);
    await own.move(slot, own.nodes[2]!, own.nodes[0]!);
    await holder!.release(held);
    await waiter!.release(await waiting);
    await own.move(slot, own.nodes[0]!, own.nodes[2]!);
  });
});
