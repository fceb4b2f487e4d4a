import { isRateLimitExceededError, ManualClock, memoryStore } from '@sluice/core';
import { closeSluice, configureSluice } from '@sluice/decorators';
import { fractionsFrom } from '../../support/random.js';
import { evaluate } from './page.js';

const PAGE = 'envoy-and-java';

/** The counter of the starter: counts denials, too. Times in milliseconds. */
class StarterCounter {
  readonly #counts = new Map<string, { count: number; ends: number }>();

  tryAcquire(now: number, key: string, limit: number, period: number): boolean {
    const known = this.#counts.get(key);
    if (known === undefined || known.ends <= now) {
      this.#counts.set(key, { count: 1, ends: now + period * 1000 });
      return true;
    }
    known.count += 1;
    return known.count <= limit;
  }
}

/** The bucket of the starter, forgotten `expire` after its last grant. */
class StarterBucket {
  #stored: number;
  #nextFree = 0;
  #ends = 0;

  constructor(
    readonly rate: number,
    readonly burst: number,
    readonly expire: number,
  ) {
    this.#stored = rate * burst;
  }

  tryAcquire(now: number): boolean {
    if (now >= this.#ends) {
      this.#stored = this.rate * this.burst;
      this.#nextFree = now;
    }
    const interval = 1000 / this.rate;
    if (now > this.#nextFree) {
      this.#stored = Math.min(this.rate * this.burst, this.#stored + (now - this.#nextFree) / interval);
      this.#nextFree = now;
    }
    const spent = Math.min(1, this.#stored);
    const wait = Math.trunc((1 - spent) * interval);
    if (this.#nextFree - now + wait > 0) return false;
    this.#stored -= spent;
    this.#nextFree += wait;
    this.#ends = now + this.expire * 1000;
    return true;
  }
}

interface Controller {
  count(key: string): Promise<string>;
  rate(): Promise<string>;
  code(params: { phone: string }): Promise<string>;
}

let clock: ManualClock;
let now = 0;
beforeEach(() => {
  clock = new ManualClock();
  now = 0;
  configureSluice({ store: memoryStore({ clock }) });
});
afterEach(() => closeSluice());

const pass = async (ms: number) => {
  now += ms;
  await clock.advance(ms);
};

/** @returns whether the method ran */
const allowed = (call: Promise<string>) =>
  call.then(
    () => true,
    (error) => {
      if (!isRateLimitExceededError(error)) throw error;
      return false;
    },
  );

async function controller(replace: Record<string, string> = {}): Promise<Controller> {
  type Page = { LimiterController: new () => Controller };
  const names = ['LimiterController'] as const;
  const page = await evaluate<Page>(PAGE, 'With Sluice', require, names, 'Spring', replace);
  return new page.LimiterController();
}

test('@CountLimit decides 500 calls of four keys as the starter does', async () => {
  const ours = await controller();
  const counter = new StarterCounter();
  const codes = new StarterCounter();
  const next = fractionsFrom(7);
  let denied = 0;
  for (let step = 0; step < 500; step += 1) {
    await pass(Math.floor(next() * 4000));
    const key = `k${Math.floor(next() * 2)}`;
    const before = counter.tryAcquire(now, key, 2, 10);
    if (!before) denied += 1;
    expect(await allowed(ours.count(key))).toBe(before);
    expect(await allowed(ours.code({ phone: key }))).toBe(codes.tryAcquire(now, key, 1, 60));
  }
  expect(denied).toBeGreaterThan(100);
});

test('@RateLimit decides 500 calls as the starter does', async () => {
  const ours = await controller();
  const bucket = new StarterBucket(1 / 5, 5, 120);
  const next = fractionsFrom(11);
  let denied = 0;
  for (let step = 0; step < 500; step += 1) {
    await pass(Math.floor(next() * 100) * 100);
    const before = bucket.tryAcquire(now);
    if (!before) denied += 1;
    expect({ step, allowed: await allowed(ours.rate()) }).toEqual({ step, allowed: before });
  }
  expect(denied).toBeGreaterThan(100);
});

test('an expire shorter than the refill does not fill the bucket', async () => {
  const ours = await controller({ 'expire: 120': 'expire: 2' });
  const bucket = new StarterBucket(1 / 5, 5, 2);
  expect([bucket.tryAcquire(now), await allowed(ours.rate())]).toEqual([true, true]);
  await pass(3000);
  expect([bucket.tryAcquire(now), await allowed(ours.rate())]).toEqual([true, false]);
});

test('a key that is missing is an error', async () => {
  const ours = await controller();
  await expect(ours.count(undefined as never)).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
});
