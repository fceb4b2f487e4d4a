import type { Answered } from './fleet.js';
import { heldBy, heldTime, neverMoreHeld } from './judge-of-holders.js';

const LEASE = 100;
const sign = (detail: number, moment: number, allowed: boolean, cost = 1): Answered => ({
  ...{ key: 0, moment, cost, allowed, detail },
  degraded: false,
});

test('a holder holds until it releases, or its lease ends after it was last renewed', () => {
  expect(heldBy([sign(1, 10, true), sign(1, 40, true), sign(1, 60, false)], LEASE)).toEqual([
    { start: 10, end: 60, cost: 1 },
  ]);
  expect(heldBy([sign(1, 10, true, 3), sign(1, 40, true, 3)], LEASE)).toEqual([
    { start: 10, end: 140, cost: 3 },
  ]);
  expect(heldBy([sign(1, 10, true), sign(1, 500, false)], LEASE)).toEqual([{ start: 10, end: 110, cost: 1 }]);
});

test('a call that only waited never held; a release without an answer counts as immediate', () => {
  expect(heldBy([sign(1, 10, false), sign(1, 30, false)], LEASE)).toEqual([]);
  expect(heldBy([sign(1, 0, false), sign(1, 10, true), sign(1, 40, true)], LEASE)).toEqual([
    { start: 10, end: 40, cost: 1 },
  ]);
});

test('a holder that the server lost no longer holds', () => {
  const signs = [sign(1, 10, true), sign(1, 40, true), sign(2, 70, true)];
  expect(heldBy(signs, LEASE, [20, 60])).toEqual([
    { start: 10, end: 60, cost: 1 },
    { start: 70, end: 170, cost: 1 },
  ]);
});

test('finds every holder too many, even the shortest, and no other', () => {
  const held = [
    { start: 0, end: 50, cost: 2 },
    { start: 50, end: 90, cost: 1 },
    { start: 60, end: 70, cost: 1 },
  ];
  expect(neverMoreHeld(2, held)).toBeUndefined();
  expect(neverMoreHeld(2, [...held, { start: 89, end: 90, cost: 1 }])).toBeUndefined();
  expect(neverMoreHeld(2, [...held, { start: 69, end: 71, cost: 1 }])).toBe('3 of 2 permits are held at 69');
  expect(neverMoreHeld(2, [...held, { start: 49, end: 200, cost: 1 }])).toBe('3 of 2 permits are held at 49');
  expect(heldTime(held)).toBe(150);
});
