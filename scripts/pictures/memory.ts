import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, memoryStore, RateLimiter, type RedisStore, redisStore, type Store } from '@sluice/core';
import { Redis } from 'ioredis';
import { type Made, make } from './subjects.js';
import { code, table } from './table.js';

interface Filling extends Made {
  /** Calls that use up the limit, what each costs, and µs from one to the next. */
  readonly calls: number;
  readonly cost: number;
  readonly gap: number;
}

const SECOND = 1_000_000;
const hour = { limit: 100, window: '1h' };
const filled = (made: Made, calls = 1, gap = 0, cost = 100 / calls): Filling => ({
  ...made,
  calls,
  gap,
  cost,
});

/** Each with its limit of 100 used up, and every slot and every moment in use. */
const fillings: readonly Filling[] = [
  filled(make('fixedWindow', hour)),
  filled(make('slidingWindow', hour), 20, 180 * SECOND),
  filled(make('slidingLog', hour), 100, 36 * SECOND),
  filled(make('tokenBucket', { capacity: 100, refill: 100, every: '1h' })),
  filled(make('gcra', { limit: 100, period: '1h' })),
  filled(make('leakyBucket', { capacity: 100, leak: 100, every: '1h' })),
  filled(make('concurrency', { limit: 10 }), 10, 0, 1),
];

/** In the middle of a slot, so that an hour touches all eleven. */
const START = 1_735_689_600 * SECOND + 180 * SECOND;
/** In process: enough to tell them from the rest of the heap. */
const keysFor = ({ calls }: Filling): number => (calls === 1 ? 20_000 : calls > 20 ? 500 : 3_000);

/** Stands still, and lets nobody wake: leases are renewed by who sleeps. */
class StillClock implements Clock {
  constructor(public moment = START) {}

  now(): number {
    return this.moment;
  }

  sleep(_micros: number, signal?: AbortSignal): Promise<void> {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
}
const keyOf = (i: number): string => `user-${String(i).padStart(8, '0')}`;

/** Uses up the limit of each key, in a store that has this clock. */
async function use(
  filling: Filling,
  clock: StillClock,
  store: Store,
  keys: readonly string[],
): Promise<void> {
  const { policy, calls, cost, gap } = filling;
  const limiter = new RateLimiter({ name: 'api', policy, store, deadline: '30s' });
  for (let call = 0; call < calls; call++) {
    if (call > 0) clock.moment += gap;
    for (const key of keys) {
      const { allowed } = await limiter.consume(key, { cost });
      if (!allowed) throw new Error(`${policy.algorithm}: denied before its limit was used up`);
    }
  }
  await limiter.close();
}

/** A Redis store whose moments are those of `clock`, which are sent with each call. */
const clocked = (store: RedisStore, clock: Clock): Store => ({
  name: store.name,
  remote: true,
  slotted: false,
  clock,
  decide: async (call) => (await store.decideAll([call], clock.now()))[0]!,
  listen: (key, granted) => store.listen(key, granted),
  rate: (change, asked) => store.rate(change, asked),
  close: () => store.close(),
});

/** Bytes of a key's value, and of all that MEMORY USAGE counts. */
async function inRedis(filling: Filling, client: Redis): Promise<{ value: number; usage: number }> {
  const clock = new StillClock();
  const caller = keyOf(Math.floor(Math.random() * 1e8)); // the Redis may be a shared one
  await use(filling, clock, clocked(redisStore(client), clock), [caller]);
  const [key] = await keysOf(client, `sluice:*{${caller}}`);
  const value = await client.strlen(key!);
  const usage = Number(await client.call('MEMORY', 'USAGE', key!, 'SAMPLES', '0'));
  await client.del(key!);
  return { value, usage };
}

async function keysOf(client: Redis, match: string): Promise<string[]> {
  const found: string[] = [];
  for await (const keys of client.scanStream({ match, count: 1000 })) found.push(...keys);
  return found;
}

/** Bytes of the heap and of buffers for each key of a store that is full. */
async function inProcess(filling: Filling, collect: () => void): Promise<number> {
  const keys = Array.from({ length: keysFor(filling) }, (_, i) => keyOf(i));
  const clock = new StillClock();
  const used = async () => {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50)); // buffers are given back after the collector; what renewed leases is garbage by then
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = await used();
  const store = memoryStore({ clock, maxKeys: keys.length });
  await use(filling, clock, store, keys);
  const bytes = ((await used()) - before) / keys.length;
  if (store.size !== keys.length)
    throw new Error(`${filling.policy.algorithm}: ${store.size} keys are there, not ${keys.length}`);
  await store.close();
  return bytes;
}

/** Measures, and writes the table down: a value in Redis, all that Redis has of the key, and a key of a memory store. */
export async function memoryTable(url: string): Promise<string> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const client = new Redis(url);
  try {
    const rows: (string | number)[][] = [];
    await inProcess(fillings[0]!, collect); // code is compiled
    for (const filling of fillings) {
      const { value, usage } = await inRedis(filling, client);
      rows.push([
        code(filling.code),
        value,
        usage,
        Math.round((await inProcess(filling, collect)) / 10) * 10,
      ]);
    }
    return table(['bytes for one caller', 'value in Redis', 'key in Redis', 'in process'], rows);
  } finally {
    client.disconnect();
  }
}
