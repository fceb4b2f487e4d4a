import type { Clock } from '../clock.js';
import { fixedWindow, gcra, memoryStore, type Policy, RateLimiter } from '../index.js';
import { WakeOrder } from './wake-order.js';

/** A clock whose timers fire together, the latest first, as Node's may that are due at nearly the same time. */
class UnorderedClock implements Clock {
  #now = 1_735_689_600_000_000;
  #sleepers: { due: number; wake: () => void; stop: (reason: unknown) => void }[] = [];

  now(): number {
    return this.#now;
  }

  sleep(micros: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#sleepers.push({ due: this.#now + micros, wake: resolve, stop: reject });
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  advance(micros: number): void {
    this.#now += micros;
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= this.#now).reverse();
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.due > this.#now);
    for (const { wake } of due) wake();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test.each<[string, Policy]>([
  ['at moments of their own', gcra({ limit: 1000, period: '1s', burst: 1 })],
  ['ten at each moment', fixedWindow({ limit: 10, window: '10ms' })],
])('120 callers %s go in the order in which they were booked, however timers fire', async (_, policy) => {
  const clock = new UnorderedClock();
  const limiter = new RateLimiter({ name: 'order', policy, store: memoryStore({ clock }) });
  const gone: number[] = [];
  const waits = numbers(120).map((place) => limiter.acquire('k').then(() => gone.push(place)));
  await turn();
  for (let passed = 0; gone.length < 120; passed += 1) {
    expect(passed).toBeLessThan(10);
    clock.advance(33_000);
    await turn();
  }
  await Promise.all(waits);
  expect(gone).toEqual(numbers(120));
});

test('nobody goes before his own moment, and who is called off holds nobody up', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const never = new AbortController();
  const stop = new AbortController();
  const gone: string[] = [];
  const wait = (name: string, moment: number, micros: number, { signal }: AbortController) =>
    order.wait('q', moment, micros, clock, signal).then(
      () => gone.push(name),
      () => gone.push(`not ${name}`),
    );
  const waits = [
    wait('second', 20, 15, never), // whose reply was quicker than that of the first
    wait('first', 10, 30, stop),
    wait('third', 30, 40, never),
  ];
  clock.advance(20);
  await turn();
  expect(gone).toEqual([]);
  stop.abort();
  await turn();
  expect(gone).toEqual(['not first', 'second']);
  const late = wait('late', 25, 0, never); // its moment came before that of the third
  await turn();
  expect(gone.at(-1)).toBe('late');
  clock.advance(20);
  await Promise.all([...waits, late]);
  expect(gone).toEqual(['not first', 'second', 'late', 'third']);
});

test('a call that is free to go does not pass one that is due before it', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const { signal } = new AbortController();
  const gone: string[] = [];
  const waits = [
    order.wait('q', 10, 10, clock, signal).then(() => gone.push('booked')),
    order.wait('q', 12, 0, clock, signal).then(() => gone.push('free')),
    order.wait('other', 12, 0, clock, signal).then(() => gone.push('elsewhere')),
  ];
  clock.advance(10);
  await Promise.all(waits);
  expect(gone).toEqual(['elsewhere', 'booked', 'free']);
});

test('a clock of the store that went back by an hour holds nobody up', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const { signal } = new AbortController();
  const HOUR = 3_600_000_000;
  const first = order.wait('q', 2 * HOUR, 10, clock, signal);
  const later = order.wait('q', HOUR, 5_000_000, clock, signal);
  clock.advance(10);
  await first;
  clock.advance(5_000_000);
  await later;
});
