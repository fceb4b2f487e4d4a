import {
  CombinedLimiter,
  concurrency,
  RateLimiter,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import type { Store } from '../../../packages/core/src/stores/store.js';
import { policies, rates } from '../../contracts/store/harness.js';
import { uniqueName } from '../../support/redis-url.js';
import { rethrow } from '../../support/rethrow.js';

/** Runs every operation of a store once, with every algorithm; rejects with the first error. */
export async function walk(store: Store): Promise<void> {
  const hashTag = uniqueName('walk');
  const common = { store, hashTag, deadline: '10s', failurePolicy: rethrow } as const;
  const limiters = Object.fromEntries(
    Object.entries(policies).map(([, policyOf], i) => [
      `limit-${i}`,
      new RateLimiter({ name: `walk-${i}`, policy: policyOf('1h'), ...common }),
    ]),
  );
  const combined = new CombinedLimiter(limiters);
  const shared = new SharedLimiter({ name: hashTag, store, deadline: '10s' });
  try {
    for (const limiter of Object.values(limiters)) await everyOperation(limiter);
    const keys = Object.fromEntries(Object.keys(limiters).map((name) => [name, 'together']));
    await combined.peek(keys);
    await combined.refund(await combined.consume(keys));
    await combined.release(await combined.acquire(keys));
    await sharing(shared);
    await waiting(common);
    await store.fleet!.publish('usage', 'text', 1_000);
    await store.fleet!.read('usage').catch(() => []); // without +zrange
  } finally {
    await Promise.all([combined, shared, ...Object.values(limiters)].map((one) => one.close()));
  }
}

async function everyOperation(limiter: RateLimiter): Promise<void> {
  const policy = Object.values(limiter.policies)[0]!;
  await limiter.peek('k');
  await Promise.all(['l', 'm'].map((key) => limiter.consume(key)));
  await limiter.refund(await limiter.consume('k', { cost: 3 }));
  await limiter.release(await limiter.acquire('k'));
  await limiter.block('k', '1h');
  await limiter.consume('k');
  await limiter.unblock('k');
  await limiter.override('k', policy, { expiresIn: '1h' });
  await limiter.removeOverride('k');
  await (await limiter.reserve('k', 2)).cancel();
  if (policy.algorithm !== 'concurrency') {
    await (await limiter.reserve('k', 2)).settle(4);
    await limiter.penalty('k');
    await limiter.reward('k');
  }
  await limiter.reset('k');
}

async function sharing(shared: SharedLimiter): Promise<void> {
  const rate = { rate: 2, interval: '200ms' } as const;
  await shared.trySetRate(rate);
  await new Promise((resolve) => setTimeout(resolve, 5)); // so that its TTL has become shorter
  await shared.trySetRate(rate);
  await shared.updateRate(rate);
  await shared.tryAcquire(2);
  await shared.acquire(); // waits
  await shared.refund(await shared.acquire());
  await shared.availablePermits();
  await shared.setRate({ ...rate, mode: 'PER_CLIENT' });
  await shared.tryAcquire();
  await shared.getConfig();
  await shared.delete();
}

/** Waits for a booked moment, then in the queue until the message of a release: without it the next poll is minutes away. */
async function waiting(common: {
  store: Store;
  hashTag: string;
  deadline: '10s';
  failurePolicy: typeof rethrow;
}): Promise<void> {
  const booked = new RateLimiter({ name: 'walk-booked', policy: rates.gcra!('1s'), ...common });
  const held = new RateLimiter({
    name: 'walk-held',
    policy: concurrency({ limit: 1, lease: '1h' }),
    ...common,
  });
  try {
    await booked.acquire('k', { cost: 10 });
    await booked.acquire('k', { timeout: '10s' });
    const first = await held.acquire('k');
    const second = held.acquire('k', { timeout: '20s' });
    second.catch(() => {}); // awaited below
    await held.peek('k'); // so that the call before it is answered
    await held.release(first);
    await held.release(await second);
  } finally {
    await Promise.all([booked.close(), held.close()]);
  }
}
