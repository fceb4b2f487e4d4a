import { setTimeout as sleep } from 'node:timers/promises';
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
    /** Sends the first answer that was held back. */
    release: () => held.shift()!(),
    end: () => health.end(),
  };
}

/** Which call ends first: one that calls the store twice, or a later one without a reply? */
async function firstOf(
  { limiter, release, hold, end }: ReturnType<typeof setup>,
  twice: () => Promise<unknown>,
) {
  const ended: string[] = [];
  hold();
  const both = twice().then((decision) => {
    ended.push('twice');
    return decision;
  });
  await sleep(DEADLINE / 2);
  const once = limiter('later').consume('k', { cost: 100 });
  const later = once.then(() => ended.push('later'));
  await sleep(DEADLINE / 8);
  release();
  const decision = await both;
  await later;
  end();
  return { ended, decision };
}

const WITHOUT_STORE = { degraded: true, source: 'local' };

test('prefetch: waiting for a denied block and then calling the store share one deadline', async () => {
  const it = setup({ prefetch: { most: 100 } });
  const one = it.limiter('demo');
  for (let i = 0; i < 6; i += 1) await one.consume('k'); // uses up blocks of 1 and 2 permits
  await it.elsewhere('demo').consume('k', { cost: 93 }); // 1 is left: not enough for the next block
  const { ended, decision } = await firstOf(it, async () => {
    const [, second] = await Promise.all([one.consume('k'), one.consume('k')]);
    return second;
  });
  expect([ended, decision]).toMatchObject([['twice', 'later'], WITHOUT_STORE]);
});

test('prefetch: a denied block and the call without prefetch share one deadline', async () => {
  const it = setup({ prefetch: { most: 100 } });
  const one = it.limiter('demo');
  await one.consume('k');
  await it.elsewhere('demo').consume('k', { cost: 98 }); // 1 is left: not enough for a block
  const { ended, decision } = await firstOf(it, () => one.consume('k'));
  expect([ended, decision]).toMatchObject([['twice', 'later'], WITHOUT_STORE]);
});

test('prefetch: a denied combined call and its retry with local permits share one deadline', async () => {
  const it = setup({ prefetch: { most: 100 } });
  const one = it.limiter('demo');
  for (let i = 0; i < 12; i += 1) await one.consume('k'); // leaves some prefetched permits
  await it.elsewhere('demo').consume('k', { cost: 80 });
  const both = new CombinedLimiter({ one, other: it.limiter('other') });
  const { ended, decision } = await firstOf(it, () => both.consume({ one: 'k', other: 'k' }, { cost: 8 }));
  expect([ended, decision]).toMatchObject([['twice', 'later'], { allowed: false }]);
});

test('deny cache: waiting for the reply to another call counts towards the deadline', async () => {
  const it = setup({ denyCache: '10s' });
  const one = it.limiter('demo');
  await one.consume('k', { cost: 100 });
  await one.consume('k');
  await it.clock.advance('10s');
  await it.elsewhere('demo').reset('k');
  const { ended, decision } = await firstOf(it, async () => {
    const [first, second] = await Promise.all([one.consume('k'), one.consume('k')]);
    expect(first).toMatchObject({ allowed: true, source: 'far' });
    return second;
  });
  expect([ended, decision]).toMatchObject([['twice', 'later'], WITHOUT_STORE]);
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
