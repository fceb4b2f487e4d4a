import { RecentMap } from './maps.js';

test('a large map evicts a few of the oldest entries and stays within its size', () => {
  const map = new RecentMap<number, number>(10_240, () => false);
  const sizes = new Set<number>();
  for (let i = 0; i < 20_000; i += 1) {
    map.set(i, i);
    map.get(0);
    if (i >= 10_240) sizes.add(map.size);
  }
  expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([10_221, 10_240]);
  expect(map.get(0)).toBe(0);
  const newest = Array.from({ length: 10_219 }, (_, i) => 19_999 - i);
  expect(newest.filter((i) => map.get(i) !== i)).toEqual([]);
});

test('busy entries stay, and the map shrinks to its size once they are idle', () => {
  let busy = true;
  const map = new RecentMap<number, number>(10_240, () => busy);
  for (let i = 0; i < 12_000; i += 1) map.set(i, i);
  expect(map.size).toBe(12_000);
  busy = false;
  for (let i = 12_000; i < 13_000; i += 1) map.set(i, i);
  expect(map.size).toBeLessThanOrEqual(10_240);
});
