import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import fc from 'fast-check';
import { heapUsed } from '../../../../tests/support/heap-used.js';
import { fractionsFrom } from '../../../../tests/support/random.js';
import { cases } from '../../../../tests/support/runs.js';
import { readUsage } from '../index.js';
import { mergeSummaries } from './merge.js';
import { SpaceSaving } from './space-saving.js';
import { CAPACITY } from './summary.js';

/** N / K grows with the number of calls, so 100,000 calls test the same rule as a million. */
const CALLS = cases(100_000, 1_000_000);

/** Draws keys by Zipf's law: the k-th has a share in proportion to 1 / k^exponent. Deterministic. */
function zipf(keys: number, exponent: number, seed: number): () => number {
  const sums = new Float64Array(keys);
  let sum = 0;
  for (let k = 0; k < keys; k += 1) {
    sum += (k + 1) ** -exponent;
    sums[k] = sum;
  }
  const random = fractionsFrom(seed);
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, keys - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

test(`among ${CALLS} denials by Zipf's law, every key above N / K is listed, with its true count in the interval`, () => {
  const streams = fc.record({
    keys: fc.constantFrom(1_000, 100_000, 1_000_000),
    exponent: fc.double({ min: 0.6, max: 1.6, noNaN: true }),
    seed: fc.integer(),
    parts: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(streams, ({ keys, exponent, seed, parts }) => {
      const draw = zipf(keys, exponent, seed);
      const truth = new Float64Array(keys);
      const savings = Array.from({ length: parts }, () => new SpaceSaving());
      for (let i = 0; i < CALLS; i += 1) {
        const key = draw();
        truth[key]! += 1;
        savings[i % parts]!.add(`user-${key}`, 1);
      }
      const { entries, total, unlisted } = mergeSummaries(savings.map(({ summary }) => summary));
      expect(total).toBe(CALLS);
      expect(entries.length).toBeLessThanOrEqual(CAPACITY);
      expect(unlisted).toBeLessThanOrEqual(CALLS / CAPACITY);
      const listed = new Set<number>();
      for (const { key, count, error } of entries) {
        const id = Number(key.slice('user-'.length));
        listed.add(id);
        expect(error).toBeLessThanOrEqual(CALLS / CAPACITY);
        expect(truth[id]).toBeLessThanOrEqual(count);
        expect(truth[id]).toBeGreaterThanOrEqual(count - error);
      }
      const missed = truth.findIndex((count, id) => count > CALLS / CAPACITY && !listed.has(id));
      expect(missed).toBe(-1);
    }),
    { numRuns: 15 },
  );
}, 300_000);

test('200,000 keys and 2,000 limiters use less than 4 MB and one text', async () => {
  const store = memoryStore({ maxKeys: 1_000, usage: true });
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const api = new RateLimiter({ name: 'api', policy, store });
  for (let i = 0; i < 256; i += 1) api.consumeSync(`first-${i}`, { cost: 2 });
  await readUsage(store);
  const before = heapUsed();
  for (let i = 0; i < 200_000; i += 1) api.consumeSync(`user-${i}`, { cost: 2 });
  for (let i = 0; i < 2_000; i += 1) {
    const limiter = new RateLimiter({ name: `tenant-${i}`, policy, store });
    limiter.consumeSync('ann', { cost: 2 });
    await limiter.close();
  }
  expect(heapUsed() - before).toBeLessThan(4_000_000);
  const { limiters } = await readUsage(store);
  expect(limiters).toHaveLength(51);
  for (const { denied } of limiters) expect(denied.length).toBeLessThanOrEqual(CAPACITY);
  const [note] = await store.fleet.read('usage');
  expect(note!.text.length).toBeLessThan(256_000);
}, 120_000);
