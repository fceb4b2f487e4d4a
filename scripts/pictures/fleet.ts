import {
  type Call,
  ManualClock,
  memoryStore,
  type Policy,
  RateLimiter,
  type Store,
  slidingWindow,
} from '@sluice/core';
import { fractionsFrom } from '../../tests/support/random.js';
import { busiest } from './offer.js';

/** The limit that fleets of any size share, and the permits that each process may prefetch. */
export const POLICY = slidingWindow({ limit: 10_000, window: '10s' });
export const PREFETCH = { most: 100, idle: '1s' } as const;
export const FLEETS = [2, 10, 50, 200, 1_000];
/** Total calls, as parts of the limit. */
export const DEMANDS = [0.5, 0.9, 1.5] as const;

const TICK = 10_000;
const SECONDS = 20;
const PER_SECOND = 1_000;
const { limit, window } = { limit: POLICY.limit, window: POLICY.window * 1000 };

/** Figures of a fleet after its warm-up. */
export interface Fleet {
  readonly processes: number;
  readonly demand: number;
  /** Calls of the store per 100 decisions, including refunds. */
  readonly calls: number;
  /** Passed calls in percent of a fleet without prefetch. */
  readonly passed: number;
  /** The most permits that were prefetched and unused at one time. */
  readonly idle: number;
  /** The most permits used in any window. */
  readonly busiest: number;
}

/** A memory store with the delay of a remote one, and a count of its calls. */
function shared(clock: ManualClock) {
  const memory = memoryStore({ clock });
  const seen = { calls: 0, taken: 0 };
  const store: Store = {
    name: 'far',
    remote: true,
    slotted: false,
    clock,
    decide(call: Call) {
      const answer = memory.decide(call);
      seen.calls += 1;
      if (call.operation === 'refund') seen.taken -= call.parts[0]!.cost;
      else if (answer.allowed) seen.taken += call.parts[0]!.cost;
      return answer;
    },
    listen: (key, granted) => memory.listen(key, granted),
    rate: (change) => memory.rate(change),
    close: () => memory.close(),
  };
  return { store, seen };
}

/** Runs one limiter per process, with pseudo-random calls that are the same in each run. */
async function run(policy: Policy, processes: number, demand: number, prefetch: typeof PREFETCH | false) {
  const clock = new ManualClock();
  const { store, seen } = shared(clock);
  const limiters = Array.from(
    { length: processes },
    () => new RateLimiter({ name: 'fleet', policy, store, prefetch, denyCache: false, deadline: '1h' }),
  );
  const random = fractionsFrom(8);
  const went: number[] = [];
  let [asked, idle, calls, spent] = [0, 0, 0, 0];
  for (let at = 0; at < SECONDS * 1_000_000; at += TICK) {
    const warm = at >= window;
    const count = Math.round((demand * PER_SECOND * TICK) / 1_000_000);
    const before = seen.calls;
    for (let i = 0; i < count; i += 1) {
      const { allowed } = await limiters[Math.floor(random() * processes)]!.consume('everybody');
      if (allowed) went.push(at);
      if (allowed) spent += 1;
    }
    idle = Math.max(idle, seen.taken - spent);
    await clock.advance(TICK / 1000);
    if (!warm) continue;
    asked += count;
    calls += seen.calls - before;
  }
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await store.close();
  return { calls: (100 * calls) / asked, idle, went, kept: seen.taken - spent };
}

/** @throws Error if more permits were used than the limit allows, or permits were lost */
export async function fleets(): Promise<Fleet[]> {
  const all: Fleet[] = [];
  for (const demand of DEMANDS) {
    const plain = await run(POLICY, 1, demand, false);
    for (const processes of FLEETS) {
      const { calls, idle, went, kept } = await run(POLICY, processes, demand, PREFETCH);
      const most = busiest(went, window).count;
      if (most > limit) throw new Error(`${processes} processes let ${most} calls pass in a window`);
      if (kept !== 0) throw new Error(`${processes} processes kept ${kept} permits when they were closed`);
      all.push({
        processes,
        demand,
        calls,
        passed: (100 * went.length) / plain.went.length,
        idle,
        busiest: most,
      });
    }
  }
  return all;
}
