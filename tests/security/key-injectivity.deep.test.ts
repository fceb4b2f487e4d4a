import { compileKey } from '@sluice/core/internal';
import fc from 'fast-check';
import { type Decision, fixedWindow, memoryStore, RateLimiter } from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { heapUsed } from '../support/heap-used.js';
import { testClient } from '../support/redis/test-client.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';
import { runs } from '../support/runs.js';
import { anyValue, identity } from './values.js';

const LIMIT = 1_000_000;
const policy = fixedWindow({ limit: LIMIT, window: '1h' });
/** The permitted characters of our Redis keys; the only pair of braces makes the hash tag. */
const STORED = /^[\w.:/@#-]+:\{[A-Za-z0-9._~@+=,/:%-]{1,128}\}$/;

const client = testClient(redisUrl());
const redis = storeOnDefaults(client);
const memory = memoryStore();
afterAll(async () => {
  await Promise.all([redis.close(), memory.close()]);
  client.disconnect();
});

async function storedKeys(name: string): Promise<string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', `*:${name}:*`, 'COUNT', 1_000);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...found];
}

/** Consumes each of the keys once. @returns the count of each key at that call */
async function counted(limiter: RateLimiter, keys: readonly string[]): Promise<number[]> {
  const decisions: Decision[] = await Promise.all(keys.map((key) => limiter.consume(key)));
  return decisions.map(({ remaining }) => LIMIT - remaining);
}

/** How often each value has occurred so far. */
function expected(values: readonly (readonly string[])[]): number[] {
  const times = new Map<string, number>();
  return values.map((value) => {
    const nth = (times.get(identity(value)) ?? 0) + 1;
    times.set(identity(value), nth);
    return nth;
  });
}

async function checkInjective(template: string, values: readonly (readonly string[])[]): Promise<void> {
  const { resolve } = compileKey(template);
  const keys = values.map((value) => resolve((root) => value[Number(root)]));
  const name = uniqueName('injective');
  const place = { name, policy, deadline: '10s' };
  const [inRedis, inMemory] = [
    new RateLimiter({ ...place, store: redis }),
    new RateLimiter({ ...place, store: memory }),
  ];
  const different = new Set(values.map(identity)).size;
  const before = memory.size;
  expect(await counted(inMemory, keys)).toEqual(expected(values));
  expect(memory.size - before).toBe(different);
  expect(await counted(inRedis, keys)).toEqual(expected(values));
  const stored = await storedKeys(name);
  expect(stored).toHaveLength(different);
  for (const key of stored) {
    expect(key).toMatch(STORED);
    expect(key.length).toBeLessThanOrEqual(200);
  }
}

describe('values share a count only if they are equal, in memory and in Redis', () => {
  test.each(['#{0}', 'k:#{0}', '{#{0}}'])('%s', async (template) => {
    const several = fc.array(fc.tuple(anyValue), { minLength: 2, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(several, (values) => checkInjective(template, values)),
      runs(30),
    );
  });

  test.each(['#{0}#{1}#<2>', 'order:#{0}:#{1}-#<2>', '#{0}/#{1} #{2}', '{#{0}}~3A#{1}%#{2}'])(
    '%s',
    async (template) => {
      // The same few texts in every place, including delimiters, so that values with other boundaries join to the same text.
      const some = fc.tuple(fc.constantFrom(':', ':', ':', '/', '-', ' ', '~', '%', '~3A'), anyValue);
      const several = some.chain((texts) => {
        const one = fc.array(fc.constantFrom(...texts), { minLength: 1, maxLength: 2 });
        const value = one.map((parts) => parts.join(''));
        return fc.array(fc.tuple(value, value, value), { minLength: 2, maxLength: 40 });
      });
      await fc.assert(
        fc.asyncProperty(several, (values) => checkInjective(template, values)),
        runs(60),
      );
    },
  );
});

test('keys of a megabyte that differ in the last character have own counts in 200 bytes each', async () => {
  const long = 'x'.repeat(1 << 20);
  const values = ['', 'a', 'b', '\0', '\ud800', '\ufffd', '{', '}'].map((end) => [`${long}${end}`, 'y']);
  await checkInjective('#{0}', [...values, ...values]);
  await checkInjective('#{1}:#{0}', [...values, ...values]);
});

test('two hundred keys of a megabyte use less than 20 MB of heap', async () => {
  const limiter = new RateLimiter({ name: uniqueName('long'), policy, store: memory });
  const before = memory.size;
  const heap = heapUsed();
  for (let i = 0; i < 200; i += 1) await limiter.consume(`${i}`.padEnd(1 << 20, 'é'));
  expect(memory.size - before).toBe(200);
  expect(heapUsed() - heap).toBeLessThan(20 << 20);
});
