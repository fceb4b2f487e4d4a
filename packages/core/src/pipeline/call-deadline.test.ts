import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../tests/support/eventually.js';
import { farStore } from '../../../../tests/support/far-store.js';
import type { Answer, Call } from '../call/call.js';
import { CallDeadline, Deadlines } from '../call/deadlines.js';
import { StoreHealth } from '../health/store-health.js';
import {
  CombinedLimiter,
  fixedWindow,
  RateLimiter,
  type RateLimiterOptions,
  type Store,
  StoreUnavailableError,
} from '../index.js';

const DEADLINE = 1_000;
const policy = fixedWindow({ limit: 100, window: '1h' });

/** A store that holds its replies back after `hold`. `release` sends them one by one. */
function setup(options: Partial<RateLimiterOptions> = {}) {
  const health = new StoreHealth(() => undefined);
  const held: (() => void)[] = [];
  let holding = false;
  const far = farStore({
    health,
    decide: (call: Call): Promise<Answer> => {
      const answer = Promise.resolve(far.memory.decide(call));
      if (!holding) return answer;
      return new Promise((resolve) => {
        held.push(() => resolve(answer));
      });
    },
  });
  const place = { policy, store: far.store as Store, deadline: DEADLINE, ...options };
  const limiter = (name: string) => new RateLimiter({ name, ...place } as RateLimiterOptions);
  return {
    ...far,
    limiter,
    /** The same limiter in another process. */
    elsewhere: (name: string) => new RateLimiter({ name, policy, store: far.memory }),
    hold: () => {
      holding = true;
    },
    /** Resolves when that many answers are held back. */
    held: (count: number) => eventually(async () => held.length === count, 0),
    /** Sends the first answer that was held back. */
    release: () => held.shift()!(),
    end: () => health.end(),
  };
}

/**
 * Is a call that calls the store twice over when a later call without a reply is? Both are calls of one limiter: its deadlines end in the
 * order in which they began, also after the process was blocked.
 */
async function compare(
  { held, release, hold, end }: ReturnType<typeof setup>,
  later: RateLimiter,
  twice: () => Promise<unknown>,
) {
  let isOver = false;
  hold();
  const both = twice().then((decision) => {
    isOver = true;
    return decision;
  });
  await held(1);
  const once = later.consume('later', { cost: 100 });
  await held(2);
  await sleep(DEADLINE / 4); // a deadline of the second request alone would end this much later
  release();
  await once;
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  const wasOver = isOver;
  const decision = await both;
  end();
  return { wasOver, decision };
}

const WITHOUT_STORE = { degraded: true, source: 'local' };

test('prefetch: waiting for a denied block and then calling the store share one deadline', async () => {
  const it = setup({ prefetch: { most: 100 } });
  const one = it.limiter('demo');
  for (let i = 0; i < 6; i += 1) await one.consume('k'); // uses up blocks of 1 and 2 permits
  await it.elsewhere('demo').consume('k', { cost: 93 }); // 1 is left: not enough for the next block
  const { wasOver, decision } = await compare(it, one, async () => {
    const [, second] = await Promise.all([one.consume('k'), one.consume('k')]);
    return second;
  });
  expect([wasOver, decision]).toMatchObject([true, WITHOUT_STORE]);
});

test('prefetch: a denied block and the call without prefetch share one deadline', async () => {
  const it = setup({ prefetch: { most: 100 } });
  const one = it.limiter('demo');
  await one.consume('k');
  await it.elsewhere('demo').consume('k', { cost: 98 }); // 1 is left: not enough for a block
  const { wasOver, decision } = await compare(it, one, () => one.consume('k'));
  expect([wasOver, decision]).toMatchObject([true, WITHOUT_STORE]);
});

test('prefetch: a denied combined call and its retry with local permits share one deadline', async () => {
  const it = setup({ prefetch: { most: 100 } });
  const one = it.limiter('demo');
  for (let i = 0; i < 12; i += 1) await one.consume('k'); // leaves some prefetched permits
  await it.elsewhere('demo').consume('k', { cost: 80 });
  const both = new CombinedLimiter({ one, other: it.limiter('other') });
  const { wasOver, decision } = await compare(it, one, () =>
    both.consume({ one: 'k', other: 'k' }, { cost: 8 }),
  );
  expect([wasOver, decision]).toMatchObject([true, { allowed: false }]);
});

test('deny cache: waiting for the reply to another call counts towards the deadline', async () => {
  const it = setup({ denyCache: '10s' });
  const one = it.limiter('demo');
  await one.consume('k', { cost: 100 });
  await one.consume('k');
  await it.clock.advance('10s');
  await it.elsewhere('demo').reset('k');
  const { wasOver, decision } = await compare(it, one, async () => {
    const [first, second] = await Promise.all([one.consume('k'), one.consume('k')]);
    expect(first).toMatchObject({ allowed: true, source: 'far' });
    return second;
  });
  expect([wasOver, decision]).toMatchObject([true, WITHOUT_STORE]);
});

test('an expired deadline fails each later stage at once; an ended deadline fails no stage', async () => {
  const error = new StoreUnavailableError('late');
  const deadlines = new Deadlines(1, () => error);
  const start = (deadline: CallDeadline) => {
    deadlines.begin(deadline, performance.now());
    return deadlines;
  };
  const failed: unknown[] = [];
  const stage = (name: string) => ({
    over: false,
    departure: undefined,
    deadlines: undefined,
    failed: (reason: unknown) => failed.push([name, reason]),
  });
  const deadline = new CallDeadline(start);
  deadline.applyTo(stage('first'));
  await deadline.until(new Promise(() => {}));
  expect([failed, deadline.over]).toEqual([[], true]); // one stage at a time: the second replaced the first
  deadline.applyTo(stage('third'));
  expect(failed).toEqual([['third', error]]);
  deadline.end();
  const other = new CallDeadline(start);
  await other.until(Promise.reject(new Error('its own caller gets it')));
  other.end();
  await sleep(20);
  expect(other.over).toBe(false);
});
