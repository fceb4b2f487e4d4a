import type Bottleneck from 'bottleneck';
import { leakyBucket, ManualClock, memoryStore, RateLimiter } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { evaluate, SIDES, type Side } from './page.js';

const PAGE = 'bottleneck';

interface Page {
  load(task: () => Promise<string>): Promise<string>;
  search(text: string): Promise<string>;
}
const programOf = (side: Side) => evaluate<Page>(PAGE, side, require, ['load', 'search']);

/** Jobs that run until `end`. */
class Jobs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  readonly job = (name: string) => () =>
    new Promise<string>((end) => {
      this.begun.push(name);
      this.#ends.set(name, () => end(name));
    });

  end(name: string): void {
    this.#ends.get(name)!();
  }

  async running(count: number): Promise<void> {
    await eventually(async () => this.begun.length >= count, 0);
  }
}

describe.each(SIDES)('%s', (side) => {
  test('runs two jobs at once in order, and resolves to their results', async () => {
    const { load } = await programOf(side);
    const jobs = new Jobs();
    const first = ['a', 'b'].map((name) => load(jobs.job(name)));
    await jobs.running(2);
    const all = Promise.all([...first, ...['c', 'd'].map((name) => load(jobs.job(name)))]);
    expect(jobs.begun.toString()).toMatch(/^(?:a,b|b,a)$/);
    jobs.end('b');
    await jobs.running(3);
    expect(jobs.begun.slice(2)).toEqual(['c']);
    jobs.end('a');
    await jobs.running(4);
    jobs.end('d');
    jobs.end('c');
    expect(await all).toEqual(['a', 'b', 'c', 'd']);
  });

  test('wrap works, and errors of jobs reject', async () => {
    const { load, search } = await programOf(side);
    expect(await search('book')).toBe('found book');
    await expect(load(async () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
    expect(await search('pen')).toBe('found pen');
  });
});

/** Bottleneck does not count all jobs that are about to run, so the number that it drops varies. */
test('with Sluice two jobs run, three wait, and further calls reject', async () => {
  const { load } = await programOf('With Sluice');
  let open = () => {};
  const gate = new Promise<string>((opened) => (open = () => opened('done')));
  let rejected = 0;
  const calls = Array.from({ length: 8 }, () =>
    load(() => gate).catch((error: Error) => {
      rejected += 1;
      if (rejected === 3) open();
      return error.name;
    }),
  );
  const settled = await Promise.all(calls);
  expect(settled.filter((result) => result === 'RateLimitExceededError')).toHaveLength(3);
  expect(settled.filter((result) => result === 'done')).toHaveLength(5);
});

test('reservoirs of both sides let the same number of jobs pass at once', async () => {
  type Before = Record<'quota' | 'drops', Bottleneck>;
  type After = Record<'quota' | 'drops', RateLimiter>;
  const names = ['quota', 'drops'] as const;
  const before = await evaluate<Before>(PAGE, 'Before', require, names, 'reservoirs');
  const after = await evaluate<After>(PAGE, 'With Sluice', require, names, 'reservoirs');
  for (const name of names) {
    const passed: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      if (await before[name].check()) await before[name].schedule(async () => passed.push(at));
    }
    expect(passed).toEqual([0, 1, 2]);
    expect(await before[name].currentReservoir()).toBe(0);
    const allowed = [];
    for (let at = 0; at < 5; at += 1) allowed.push((await after[name].consume(name)).allowed);
    expect(allowed).toEqual([true, true, true, false, false]);
    expect(await after[name].peek(name)).toMatchObject({ remaining: 0 });
    await before[name].disconnect();
  }
});

test('minTime equals the distance of a leaky bucket', async () => {
  const clock = new ManualClock();
  const policy = leakyBucket({ capacity: 100, leak: 1, every: '20ms' });
  const limiter = new RateLimiter({ name: 'pace', policy, store: memoryStore({ clock }) });
  const calls = [1, 2, 3].map(() => limiter.acquire('k'));
  await clock.advance('40ms');
  expect((await Promise.all(calls)).map(({ waited }) => waited)).toEqual([0, 20, 40]);
});

test('options and methods of bottleneck throw an error that names the remedy', async () => {
  expect(() => new RateLimiter({ minTime: 20 } as never)).toThrow('pass policy: leakyBucket(');
  const limiter = new RateLimiter({ policy: leakyBucket({ capacity: 1, leak: 1, every: '1s' }) });
  await expect(limiter.schedule((async () => 1) as never, undefined as never)).rejects.toThrow(
    "schedule: the task must be a function, not undefined. Pass the key first: schedule('all', task)",
  );
});
