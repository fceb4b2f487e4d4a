import fc from 'fast-check';
import { runs } from '../../../../../tests/support/runs.js';
import type { Entry } from '../../engine/entry.js';
import { NONE, Rank } from './records.js';
import { Table } from './table.js';

interface Known {
  readonly name: string;
  entry: Entry;
  rank: Rank;
}

/** A plain model: a list of keys in the order in which they got their ranks. */
class PlainEntries {
  list: Known[] = [];

  constructor(readonly maxKeys: number) {}

  find = (name: string) => this.list.find((one) => one.name === name);

  put(name: string, entry: Entry, rank: Rank): void {
    const known = this.find(name);
    if (known?.rank === rank) {
      known.entry = entry;
      return;
    }
    if (known !== undefined) this.remove(name);
    else if (this.list.length === this.maxKeys) this.remove(this.inOrder()[0]!.name);
    this.list.push({ name, entry, rank });
  }

  remove(name: string): void {
    this.list = this.list.filter((one) => one.name !== name);
  }

  sweep(now: number): void {
    this.list = this.list.filter(({ entry }) => (entry as number[])[0]! > now);
  }

  /** In order of eviction. */
  inOrder = () => [...this.list].sort((a, b) => a.rank - b.rank);
}

const names = fc.tuple(fc.constantFrom('a:{', 'b:{', undefined), fc.integer({ min: 0, max: 60 }));
/** From entries that fit into a record to longer ones. */
const entries = fc.array(fc.integer({ min: 0, max: 2 ** 53 - 1 }), { minLength: 2, maxLength: 8 });
const steps = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ put: names, entry: entries, rank: fc.constantFrom(...Object.values(Rank)) }),
  },
  { weight: 4, arbitrary: fc.record({ remove: names }) },
  { weight: 1, arbitrary: fc.record({ sweep: fc.integer({ min: 0, max: 2 ** 53 - 1 }) }) },
  { weight: 1, arbitrary: fc.record({ copy: fc.constant(true) }) },
);

const keyOf = ([prefix = '', n]: [string | undefined, number]) => [prefix, `key-${n}`] as const;

test('stores and evicts like a plain list', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.array(steps, { maxLength: 400 }), (maxKeys, all) => {
      const plain = new PlainEntries(maxKeys);
      let table = new Table(maxKeys);
      const check = (name: [string | undefined, number]) => {
        const slot = table.find(...keyOf(name));
        const known = slot === NONE ? undefined : { entry: table.read(slot), rank: table.rank(slot) };
        const expected = plain.find(name.join());
        expect(known).toEqual(expected && { entry: expected.entry, rank: expected.rank });
      };
      for (const step of all) {
        if ('put' in step) {
          const slot = table.find(...keyOf(step.put));
          if (slot === NONE) table.add(...keyOf(step.put), step.entry, step.rank);
          else table.write(slot, step.entry, step.rank);
          plain.put(step.put.join(), step.entry, step.rank);
          check(step.put);
        } else if ('remove' in step) {
          const slot = table.find(...keyOf(step.remove));
          if (slot !== NONE) table.remove(slot);
          plain.remove(step.remove.join());
        } else if ('sweep' in step) {
          table.sweep(step.sweep, 1_000);
          plain.sweep(step.sweep);
        } else {
          table = table.copy();
        }
        expect(table.size).toBe(plain.list.length);
      }
      for (const keyspace of ['a:{', 'b:{', undefined]) for (let n = 0; n <= 60; n += 1) check([keyspace, n]);
    }),
    runs(200),
  );
});

test('finds all keys among thousands that were added and removed, and no others', () => {
  const table = new Table(20_000);
  const place = (n: number) => [`limit-${n % 700}:{`, `user:${n}`] as const;
  for (let n = 0; n < 60_000; n += 1) table.add(...place(n), [n + 1, n], Rank.ordinary);
  expect(table.size).toBe(20_000);
  for (let n = 40_000; n < 60_000; n += 2) table.remove(table.find(...place(n)));
  const found = Array.from({ length: 60_000 }, (_, n) => {
    const slot = table.find(...place(n));
    return slot === NONE ? undefined : table.read(slot);
  });
  const expected = found.map((_, n) => (n >= 40_000 && n % 2 === 1 ? [n + 1, n] : undefined));
  expect(found).toEqual(expected);
});

test('a sweep continues where the last one ended', () => {
  const table = new Table(100);
  for (let n = 0; n < 100; n += 1) table.add('', String(n), [5, 0], Rank.ordinary);
  for (const left of [70, 40, 10, 0]) {
    table.sweep(5, 30);
    expect(table.size).toBe(left);
  }
});

test('after a flood the table is copied to a smaller one', () => {
  const table = new Table(10_000);
  for (let n = 0; n < 10_000; n += 1) table.add('', String(n), [n, 0], Rank.ordinary);
  expect(table.roomy).toBe(false);
  table.sweep(9_900, 10_000);
  expect(table.roomy).toBe(true);
  const copy = table.copy();
  expect(copy.roomy).toBe(false);
  expect(copy.size).toBe(99);
  expect(copy.read(copy.find('', '9950'))).toEqual([9_950, 0]);
});
