import fc from 'fast-check';
import { heapUsed } from '../../../../tests/support/heap-used.js';
import { mergeSummaries } from './merge.js';
import { SpaceSaving } from './space-saving.js';
import type { Summary } from './summary.js';

type Stream = readonly (readonly [key: string, weight: number])[];

/** Some keys occur often. */
const streams = fc.array(
  fc.tuple(
    fc.oneof(fc.nat(4), fc.nat(60)).map((id) => `key-${id}`),
    fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.nat(50)),
  ),
  { maxLength: 300 },
);
const capacities = fc.integer({ min: 1, max: 20 });

function summaryOf(stream: Stream, capacity: number): Summary {
  const saving = new SpaceSaving(capacity);
  for (const [key, weight] of stream) saving.add(key, weight);
  return saving.summary;
}

/** Compares a summary with the true counts. */
function expectTrue({ entries, total, unlisted }: Summary, stream: Stream, capacity: number): void {
  const truth = new Map<string, number>();
  for (const [key, weight] of stream) truth.set(key, (truth.get(key) ?? 0) + weight);
  expect(total).toBe([...truth.values()].reduce((sum, count) => sum + count, 0));
  expect(entries.length).toBeLessThanOrEqual(capacity);
  expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  expect(unlisted).toBeLessThanOrEqual(total / capacity);
  for (const { key, count, error } of entries) {
    expect(error).toBeLessThanOrEqual(total / capacity);
    expect(truth.get(key) ?? 0).toBeLessThanOrEqual(count);
    expect(truth.get(key) ?? 0).toBeGreaterThanOrEqual(count - error);
    truth.delete(key);
  }
  for (const count of truth.values()) expect(count).toBeLessThanOrEqual(unlisted);
}

test('every true count is in its interval, and no key above total / capacity is missing', () => {
  fc.assert(
    fc.property(streams, capacities, (stream, capacity) => {
      expectTrue(summaryOf(stream, capacity), stream, capacity);
    }),
  );
});

test('merged summaries keep the bounds, in any order of merging', () => {
  fc.assert(
    fc.property(fc.array(streams, { maxLength: 6 }), capacities, (parts, capacity) => {
      const merged = parts.reduce(
        (sum, stream) => mergeSummaries([sum, summaryOf(stream, capacity)], capacity),
        mergeSummaries([]),
      );
      expectTrue(merged, parts.flat(), capacity);
      const atOnce = mergeSummaries(
        parts.map((stream) => summaryOf(stream, capacity)),
        capacity,
      );
      expectTrue(atOnce, parts.flat(), capacity);
    }),
  );
});

test('a key that a full summary does not list may have its smallest count there', () => {
  const one = summaryOf(
    [
      ['a', 5],
      ['b', 3],
    ],
    2,
  );
  const other = summaryOf(
    [
      ['a', 4],
      ['c', 7],
    ],
    2,
  );
  expect(mergeSummaries([one, other], 2)).toEqual({
    entries: [
      { key: 'c', count: 10, error: 3 },
      { key: 'a', count: 9, error: 0 },
    ],
    total: 19,
    unlisted: 7,
  });
});

test('a summary keeps its own copies of keys', () => {
  const saving = new SpaceSaving(200);
  const before = heapUsed();
  for (let i = 0; i < 400; i += 1) {
    saving.add(Buffer.alloc(16_384, `user-${i}-of-many.`).toString('latin1').slice(3, 40), 1);
  }
  expect((heapUsed() - before) / 200).toBeLessThan(2_000);
  expect(saving.summary.entries).toHaveLength(200);
});
