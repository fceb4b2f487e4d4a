import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { ManualClock, memoryStore } from '../../../packages/core/src/index.js';
import { limitOf } from '../../support/limit-of.js';
import { fractionsFrom } from '../../support/random.js';
import { type Contest, contests } from './contests.js';
import { type Admitted, inBatches, inNamedWindows } from './judge.js';

// Tests the judge: it must find one call too many at every place, and must not report a lost answer.

interface Decided extends Admitted {
  readonly allowed: boolean;
}

const random = fractionsFrom(20);

/** Calls of one key for about twice its limit, one after the other, in memory. */
async function recorded({ policy }: Contest, count = 400): Promise<Decided[]> {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limit = limitOf(compilePolicy(policy));
  const calls: Decided[] = [];
  for (let i = 0; i < count; i += 1) {
    const rest = i % 50 === 0 ? 400_000 : 0; // sometimes all permits are back
    clock.set(clock.now() + rest + Math.floor(random() ** 3 * 30_000));
    const cost = 1 + Math.floor(random() ** 4 * 3);
    const part = { limit, key: 'k', cost, at: 0 };
    const { allowed, now, parts } = await store.decide({ operation: 'consume', wait: 0, parts: [part] });
    calls.push({ moment: now, cost, whole: now + parts[0]!.reset, allowed });
  }
  await store.close();
  return calls;
}

describe.each(contests)('$name', (contest) => {
  const { judge, ideal, cautious } = contest;

  test('accepts what the algorithm admits, with any answers lost', async () => {
    for (let run = 0; run < 20; run += 1) {
      const admitted = (await recorded(contest)).filter(({ allowed }) => allowed);
      expect(judge(admitted)).toBeUndefined();
      for (const lost of [0.05, 0.5]) {
        expect(judge(admitted.filter(() => random() >= lost))).toBeUndefined();
      }
    }
    expect(judge([])).toBeUndefined();
  });

  test('finds one call too many at every place', async () => {
    const calls = await recorded(contest);
    const denied = calls.filter(({ allowed }) => !allowed);
    expect(denied.length).toBeGreaterThan(50);
    const found = denied.filter(
      (extra) => judge(calls.filter((call) => call.allowed || call === extra)) !== undefined,
    );
    // Not every denied call was one too many.
    if (cautious) expect(found.length).toBeGreaterThan(denied.length / 2);
    else expect(found).toEqual(denied);
  });

  test('the ideal admits what the algorithm does', async () => {
    const calls = await recorded(contest);
    const goes = ideal();
    const best = calls.filter(({ moment, cost }) => goes(moment, cost));
    const admitted = calls.filter(({ allowed }) => allowed);
    if (cautious) expect(admitted.length).toBeGreaterThan(best.length * 0.95);
    else expect(best).toEqual(admitted);
  });
});

test('finds overlapping windows and moved ticks that have no call too many', () => {
  const windows = inNamedWindows(2, 10);
  expect(windows([call(0, 10), call(10, 20), call(35, 45)])).toBeUndefined();
  expect(windows([call(0, 10), call(9, 19)])).toMatch(/begins before/);
  expect(windows([call(0, 11)])).toMatch(/not in the window/);
  expect(windows([call(10, 10)])).toMatch(/not in the window/);

  const batches = inBatches(3, 1, 10);
  expect(batches([call(0, 10), call(5, 20), call(15, 20), call(27, 37)])).toBeUndefined();
  expect(batches([call(0, 10), call(5, 15)])).toMatch(/other ticks/);
  expect(batches([call(0, 10), call(1, 20), call(2, 30), call(9, 40)])).toMatch(/1 permits more/);
  expect(batches([call(0, 10), call(1, 20), call(2, 30), call(10, 40)])).toBeUndefined();
});

const call = (moment: number, whole: number): Admitted => ({ moment, cost: 1, whole });
