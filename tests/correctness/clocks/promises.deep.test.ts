import { ANY, JITTER } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { fixedWindow, gcra, leakyBucket, type Policy, slidingLog } from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { type Key, memorySide, persistentRedisSide, type RedisSide, type Side } from './sides.js';
import { DAY, HOUR, held, jumps, LIMIT, spaced, subjects, YEAR } from './subjects.js';

let redis: RedisSide;
let sides: Side[];
beforeAll(() => {
  redis = persistentRedisSide();
  sides = [memorySide(), redis];
});
afterAll(() => Promise.all(sides.map((side) => side.close())));

const rates = Object.fromEntries(Object.entries(subjects).filter(([name]) => !held.has(name)));
const backwards = Object.entries(jumps).filter(([, jump]) => jump < 0);
const forwards = Object.entries(jumps).filter(([, jump]) => jump > 0);
const WAIT = 10 * YEAR;

/** Books a moment. @returns the wait until it, µs */
async function book(key: Key, now: number, cost = 1): Promise<number> {
  const { allowed, wait } = await key.ask(now, { operation: 'acquire', cost, wait: WAIT });
  expect(allowed).toBe(true);
  return wait;
}

describe.each(Object.entries(rates))('%s: bookings', (name, { policy, window }) => {
  /** A key whose permits are used up, and who is booked after that. A leaky bucket lets no more wait than it holds. */
  const leaks = spaced.has(name);
  const bookings = leaks ? LIMIT - 1 : 2 * LIMIT;
  const used = { cost: leaks ? 1 : LIMIT };
  const booked = async (side: Side) => {
    const key = side.key(policy);
    await key.ask(START, used);
    const promised: number[] = [];
    for (let i = 0; i < bookings; i += 1) promised.push(await book(key, START));
    return { key, last: Math.max(...promised) };
  };

  test.each(backwards)(
    'after a jump %s no booking is lost, and no call passes before a booked one',
    async (_, jump) => {
      for (const side of sides) {
        const { key, last } = await booked(side);
        const { wait: without } = await key.ask(START, { operation: 'peek' });
        const { wait, parts } = await key.ask(START + jump, { operation: 'peek' });
        expect(parts[0]!.remaining).toBe(0);
        expect(wait).toBeGreaterThanOrEqual(last);
        // The next call waits as long as without the jump, or until the end of a window that the jump started.
        expect(wait).toBeLessThanOrEqual(without + window);
        expect(await key.ask(START + jump + wait - 1)).toMatchObject({ allowed: false });
        expect(await key.ask(START + jump + wait)).toMatchObject({ allowed: true });
      }
    },
  );

  test.each(forwards)(
    'after a jump %s passed bookings end, and the others keep their moments',
    async (_, jump) => {
      for (const side of sides) {
        const { key, last } = await booked(side);
        const { wait, parts } = await key.ask(START + jump, { operation: 'peek' });
        expect(wait).toBeLessThanOrEqual(Math.max(0, last - jump) + window);
        if (jump < last) expect(wait).toBeGreaterThanOrEqual(last - jump);
        expect(parts[0]!.remaining).toBeLessThanOrEqual(LIMIT);
        if (wait > 0) expect(await key.ask(START + jump + wait - 1)).toMatchObject({ allowed: false });
        expect(await key.ask(START + jump + wait)).toMatchObject({ allowed: true });
      }
    },
  );

  test('after several jumps booked moments still have the order of the calls', async () => {
    for (const side of sides) {
      const key = side.key(policy);
      await key.ask(START, used);
      let [now, before] = [START, 0];
      for (let i = 0; i < bookings; i += 1) {
        const wait = await book(key, now);
        expect(wait).toBeGreaterThanOrEqual(before - JITTER);
        before = wait;
        now -= [HOUR, DAY, 1, JITTER, JITTER + 1, Math.floor(HOUR / 7)][i % 6]!;
      }
    }
  });
});

describe.each(Object.entries(subjects))('%s: blocks, overrides, refunds', (_, { policy, window }) => {
  test.each(Object.entries(jumps))('after a jump %s a block ends within its length', async (_, jump) => {
    for (const side of sides) {
      const key = side.key(policy);
      await key.ask(START, { operation: 'block', wait: 2 * HOUR });
      await key.ask(START + HOUR);
      const now = START + HOUR + jump;
      const { wait } = await key.ask(now, { operation: 'peek' });
      expect(wait).toBeLessThanOrEqual(2 * HOUR);
      if (jump < 0) expect(wait).toBeGreaterThanOrEqual(HOUR);
      if (wait > 0) expect(await key.ask(now + wait - 1)).toMatchObject({ allowed: false });
      expect(await key.ask(now + wait)).toMatchObject({ allowed: true });
    }
  });

  test.each(Object.entries(jumps))('after a jump %s an override ends within its length', async (_, jump) => {
    const override = compilePolicy(policy).parameters;
    for (const side of sides) {
      const key = side.key(policy);
      await key.ask(START, { operation: 'override', wait: 2 * HOUR, override });
      const overridden = async (now: number) =>
        (await key.ask(now, { operation: 'peek' })).parts[0]!.override !== undefined;
      const now = START + HOUR + jump;
      expect(await overridden(now)).toBe(jump < HOUR);
      if (jump < 0) expect(await overridden(now + HOUR - 1)).toBe(true);
      expect(await overridden(now + 2 * HOUR)).toBe(false);
    }
  });

  test.each(Object.entries(jumps))(
    'after a jump %s refunds add no permits above the limit and create no key',
    async (_, jump) => {
      for (const side of sides) {
        const key = side.key(policy);
        const taken: number[] = [];
        for (let i = 0; i < LIMIT; i += 1) {
          const { allowed, parts } = await key.ask(START + i);
          if (allowed) taken.push(parts[0]!.at);
        }
        const after = START + LIMIT + jump;
        for (const now of [after, after + 1, after + window / 2, after + window]) {
          for (const at of [...taken, ANY]) {
            const { remaining, reset } = (await key.ask(Math.floor(now), { operation: 'refund', at }))
              .parts[0]!;
            expect(remaining).toBeLessThanOrEqual(LIMIT);
            expect(reset).toBeGreaterThanOrEqual(0);
            expect(reset).toBeLessThanOrEqual(window);
          }
          expect(await key.ask(Math.floor(now), { operation: 'peek', cost: LIMIT + 1 })).toMatchObject({
            allowed: false,
          });
        }
      }
      // The key is absent by now, and a refund does not create it.
      const absent = uniqueName('absent');
      await redis.key(policy, absent).ask(START + jump, { operation: 'refund', at: START });
      expect(await redis.redis.exists(absent)).toBe(0);
    },
  );
});

/** Policies of which one of several bookings is cancelled after the clock jumped back. */
const queues: Record<string, Policy> = {
  fixedWindow: fixedWindow({ limit: 1, window: '1h' }),
  slidingLog: slidingLog({ limit: 1, window: '1h' }),
  gcra: gcra({ limit: 1, period: '1h' }),
  leakyBucket: leakyBucket({ capacity: 4, leak: 1, every: '1h' }),
};

test.each(Object.entries(queues))(
  '%s: a booking cancelled after a jump frees no more than one place',
  async (_, policy) => {
    for (const side of sides) {
      const key = side.key(policy);
      await key.ask(START);
      const first = START + (await book(key, START));
      const second = await book(key, START);
      await key.ask(START - HOUR / 2, { operation: 'refund', at: first });
      const { wait } = await key.ask(START - HOUR / 2, { operation: 'peek' });
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(second + 2 * HOUR);
    }
  },
);
