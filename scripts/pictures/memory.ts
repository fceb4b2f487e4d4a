import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, memoryStore, RateLimiter, type RedisStore, redisStore, type Store } from '@sluice/core';
import { compilePolicy } from '@sluice/core/internal';
import { Redis } from 'ioredis';
import { conformances } from '../../tests/support/conformance/all.js';
import { type Made, make } from './subjects.js';
import { code, table } from './table.js';

interface Filling extends Made {
  /** The calls that use up the limit, their cost, and µs from one to the next. */
  readonly calls: number;
  readonly cost: number;
  readonly gap: number;
}

const SECOND = 1_000_000;

/** Each key has used up its limit, with every slot and every moment in use. */
const fillings: readonly Filling[] = conformances.map(({ name, memory }) => {
  const { options, calls = 1, gap = 0 } = memory;
  const made = make(name, options);
  return { ...made, calls, gap, cost: compilePolicy(made.policy).limit / calls };
});

/** In the middle of a slot, so that an hour touches all eleven. */
const START = 1_735_689_600 * SECOND + 180 * SECOND;
/** Keys in process: enough to measure them beside the rest of the heap. */
const keysFor = ({ calls }: Filling): number => (calls === 1 ? 20_000 : calls > 20 ? 500 : 3_000);

/** A clock that stands still and never wakes a sleeper, so that no lease is renewed. */
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

/** Uses up the limit of each key, in a store with this clock. */
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

/** A Redis store that sends the moment of `clock` with each call. */
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

/** Bytes of a key's value, and of everything that MEMORY USAGE counts. */
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
    await new Promise((resolve) => setTimeout(resolve, 50)); // buffers are freed after the collector; renewals of leases are garbage by then
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

/** Measures, and returns the table: a value in Redis, a whole key in Redis, and a key of a memory store. */
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
