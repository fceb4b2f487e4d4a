import fc from 'fast-check';
import { runs } from '../../../../../tests/support/runs.js';
import type { Entry } from '../../engine/entry.js';
import { MemoryEntries } from './entries.js';
import { NONE, Rank } from './records.js';

interface Known {
  readonly name: string;
  entry: Entry;
  rank: Rank;
}

/** The same, as plainly as can be: a list in the order in which keys came into their ranks. */
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

  /** From what is forgotten first to what is forgotten last. */
  inOrder = () => [...this.list].sort((a, b) => a.rank - b.rank);
}

const names = fc.tuple(fc.constantFrom('a:{', 'b:{', undefined), fc.integer({ min: 0, max: 60 }));
/** From those that lie in a record to logs. */
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

const placeOf = ([prefix = '', n]: [string | undefined, number]) => ({ prefix, key: `key-${n}` });

test('remembers what a plain list would, and forgets in the same order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.array(steps, { maxLength: 400 }), (maxKeys, all) => {
      const plain = new PlainEntries(maxKeys);
      let tables = new MemoryEntries(maxKeys);
      const check = (name: [string | undefined, number]) => {
        const slot = tables.find(placeOf(name));
        const known = slot === NONE ? undefined : { entry: tables.read(slot), rank: tables.rank(slot) };
        const expected = plain.find(name.join());
        expect(known).toEqual(expected && { entry: expected.entry, rank: expected.rank });
      };
      for (const step of all) {
        if ('put' in step) {
          const slot = tables.find(placeOf(step.put));
          if (slot === NONE) tables.add(placeOf(step.put), step.entry, step.rank);
          else tables.write(slot, step.entry, step.rank);
          plain.put(step.put.join(), step.entry, step.rank);
          check(step.put);
        } else if ('remove' in step) {
          const slot = tables.find(placeOf(step.remove));
          if (slot !== NONE) tables.remove(slot);
          plain.remove(step.remove.join());
        } else if ('sweep' in step) {
          tables.sweep(step.sweep, 1_000);
          plain.sweep(step.sweep);
        } else {
          tables = tables.copy();
        }
        expect(tables.size).toBe(plain.list.length);
      }
      for (const keyspace of ['a:{', 'b:{', undefined]) for (let n = 0; n <= 60; n += 1) check([keyspace, n]);
    }),
    runs(200),
  );
});

test('thousands of keys of many limits that come and go are all found, and no others', () => {
  const tables = new MemoryEntries(20_000);
  const place = (n: number) => ({ prefix: `limit-${n % 700}:{`, key: `user:${n}` });
  for (let n = 0; n < 60_000; n += 1) tables.add(place(n), [n + 1, n], Rank.ordinary);
  expect(tables.size).toBe(20_000);
  for (let n = 40_000; n < 60_000; n += 2) tables.remove(tables.find(place(n)));
  const found = Array.from({ length: 60_000 }, (_, n) => {
    const slot = tables.find(place(n));
    return slot === NONE ? undefined : tables.read(slot);
  });
  const expected = found.map((_, n) => (n >= 40_000 && n % 2 === 1 ? [n + 1, n] : undefined));
  expect(found).toEqual(expected);
});

test('a sweep looks at so many slots and goes on where the last one ended', () => {
  const tables = new MemoryEntries(100);
  for (let n = 0; n < 100; n += 1) tables.add({ prefix: '', key: String(n) }, [5, 0], Rank.ordinary);
  for (const left of [70, 40, 10, 0]) {
    tables.sweep(5, 30);
    expect(tables.size).toBe(left);
  }
});

test('after a flood what is left is worth a copy, which takes no more room than it needs', () => {
  const tables = new MemoryEntries(10_000);
  for (let n = 0; n < 10_000; n += 1) tables.add({ prefix: '', key: String(n) }, [n, 0], Rank.ordinary);
  expect(tables.roomy).toBe(false);
  tables.sweep(9_900, 10_000);
  expect(tables.roomy).toBe(true);
  const copy = tables.copy();
  expect(copy.roomy).toBe(false);
  expect(copy.size).toBe(99);
  expect(copy.read(copy.find({ prefix: '', key: '9950' }))).toEqual([9_950, 0]);
});
