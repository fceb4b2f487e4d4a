import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { ManualClock, memoryStore, RateLimiter, type Store } from '../../../packages/core/src/index.js';
import { prefetching } from '../../../packages/core/src/limiter/prefetch-options.js';
import { type Random, randomFrom, seedOf } from '../../support/random.js';
import { type Case, cases, isBucket } from './oracles.js';
import { noting, refused, type Spent } from './spent.js';

// Run by prefetch.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node prefetch.cjs <policy> <walks>
// Prints counts as JSON; throws the first violation.

const PROCESSES = 3;
const STEPS = 150;

/** A store with a delay both ways. Messages arrive in the order in which they were sent. */
function distant(clock: ManualClock, slowest: number, random: Random): Store {
  const memory = memoryStore({ clock });
  let [there, back] = [0, 0];
  const until = (moment: number) => (moment > clock.now() ? clock.sleep(moment - clock.now()) : undefined);
  return {
    name: 'far',
    remote: true,
    slotted: false,
    clock,
    async decide(call) {
      there = Math.max(there, clock.now() + random(slowest));
      await until(there);
      const answer = memory.decide(call);
      back = Math.max(back, clock.now() + random(slowest));
      await until(back);
      return answer;
    },
    listen: (key, granted) => memory.listen(key, granted),
    rate: (change) => memory.rate(change),
    close: () => memory.close(),
  };
}

/** The permits that all processes spent, in the order of their moments. */
async function walk({ policy, pace, most }: Case, random: Random): Promise<Spent[]> {
  const clock = new ManualClock();
  const pause = Math.ceil(pace);
  const store = distant(clock, 1 + random(2) * random(4 * pause), random);
  const idle = (10_000 + random(200 * pause)) / 1000;
  const limiters = Array.from(
    { length: PROCESSES },
    () =>
      new RateLimiter({
        name: 'walk',
        policy,
        store,
        deadline: '1m',
        prefetch: { most: 1 + random(20), idle },
      }),
  );
  const spent: Spent[] = [];
  const pending: Promise<unknown>[] = [];
  const note = noting(spent, clock);
  for (let step = 0; step < STEPS; step += 1) {
    const micros = random(20) === 0 ? random(pause * 30) : random(2) * random(pause + 1);
    if (micros > 0) await clock.advance(micros / 1000);
    // Sometimes take all permits at once: those in the store, and those prefetched here.
    if (random(30) === 0) {
      for (const each of [...limiters].reverse()) {
        for (let i = 0; i < most; i += 1) pending.push(each.consume('k').then(note));
      }
    }
    const limiter = limiters[random(random(3) === 0 ? PROCESSES : 1)]!;
    const cost = random(10) === 0 ? 1 + random(most) : 1;
    const dice = random(40);
    if (dice === 0) pending.push(limiter.acquire('k', { cost, timeout: 0 }).then(note, () => {}));
    else if (dice === 1) pending.push(limiter.peek('k', { cost }));
    else pending.push(limiter.consume('k', { cost }).then(note));
  }
  while (pending.length > 0) {
    const done = Promise.all(pending.splice(0));
    await clock.advance((pause * 5_000) / 1000);
    await done;
  }
  const closed = Promise.all(limiters.map((limiter) => limiter.close()));
  await clock.advance((pause * 5_000) / 1000);
  await closed;
  await store.close();
  return spent.sort((a, b) => a.at - b.at);
}

/** A case of this name whose permits can be prefetched. */
function suitable(name: string, seed: number): { readonly one: Case; readonly seed: number } {
  for (let tried = seed; ; tried += 1_000_003) {
    const one = cases[name]!(randomFrom(tried));
    const rule = compilePolicy(one.policy);
    if (rule.algorithm.prefetch?.narrow(rule.parameters, 1) === undefined) continue;
    const { prefetch } = prefetching(name, rule, { most: 1, longest: 10_000 }, name);
    if (prefetch !== undefined) return { one, seed: tried };
  }
}

async function main(name: string, walks: number): Promise<void> {
  const count = { spent: 0, here: 0, found: 0 };
  for (let i = 0; i < walks; i += 1) {
    const { one, seed } = suitable(name, seedOf(i));
    const spent = await walk(one, randomFrom(seedOf(i) + 1_000_000));
    const wrong = refused(spent, one);
    if (wrong !== undefined) throw new Error(`walk ${i}, ${JSON.stringify({ policy: one.policy, wrong })}`);
    count.spent += spent.length;
    count.here += spent.filter(({ source }) => source === 'prefetch').length;
    // A bucket keeps at most a tenth of its permits in reserve.
    const short = isBucket(one.policy) ? 1 + Math.ceil(one.most / 10) : 1;
    if (refused(spent, cases[name]!(randomFrom(seed)), short) !== undefined) count.found += 1;
  }
  console.log(JSON.stringify(count));
}

const [name = '', walks = ''] = process.argv.slice(2);
void main(name, Number(walks));
