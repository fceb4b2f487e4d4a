import type { Clock } from '../../clock.js';
import { fixedWindow, gcra, memoryStore, type Policy, RateLimiter } from '../../index.js';
import { WakeOrder } from './wake-order.js';

/** A clock that fires all expired timers together, latest first. Node.js can do so with timers that are almost equal. */
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
  ['with one moment each', gcra({ limit: 1000, period: '1s', burst: 1 })],
  ['with ten calls per moment', fixedWindow({ limit: 10, window: '10ms' })],
])('120 calls %s resolve in booking order, whatever the order of timers', async (_, policy) => {
  const clock = new UnorderedClock();
  const limiter = new RateLimiter({ name: 'order', policy, store: memoryStore({ clock }) });
  const resolved: number[] = [];
  const waits = numbers(120).map((place) => limiter.acquire('k').then(() => resolved.push(place)));
  await turn();
  for (let passed = 0; resolved.length < 120; passed += 1) {
    expect(passed).toBeLessThan(10);
    clock.advance(33_000);
    await turn();
  }
  await Promise.all(waits);
  expect(resolved).toEqual(numbers(120));
});

test('no call resolves before its moment, and an aborted call delays no other', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const never = new AbortController();
  const stop = new AbortController();
  const resolved: string[] = [];
  const wait = (name: string, moment: number, micros: number, { signal }: AbortController) =>
    order.wait('q', moment, micros, clock, signal).then(
      () => resolved.push(name),
      () => resolved.push(`not ${name}`),
    );
  const waits = [
    wait('second', 20, 25, never), // its reply arrived before the reply to 'first'
    wait('first', 10, 15, stop),
    wait('third', 30, 35, never),
  ];
  clock.advance(14);
  await turn();
  expect(resolved).toEqual([]);
  stop.abort();
  await turn();
  expect(resolved).toEqual(['not first']);
  clock.advance(11);
  await turn();
  expect(resolved).toEqual(['not first', 'second']);
  const late = wait('late', 26, 0, never); // its moment is before the moment of 'third'
  await turn();
  expect(resolved.at(-1)).toBe('late');
  clock.advance(20);
  await Promise.all([...waits, late]);
  expect(resolved).toEqual(['not first', 'second', 'late', 'third']);
});

test('a call without a wait does not overtake an earlier booking', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const { signal } = new AbortController();
  const resolved: string[] = [];
  const waits = [
    order.wait('q', 10, 10, clock, signal).then(() => resolved.push('booked')),
    order.wait('q', 12, 0, clock, signal).then(() => resolved.push('free')),
    order.wait('other', 12, 0, clock, signal).then(() => resolved.push('elsewhere')),
  ];
  clock.advance(10);
  await Promise.all(waits);
  expect(resolved).toEqual(['elsewhere', 'booked', 'free']);
});

test('a call whose answer was on its way for longer still resolves at its moment', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const { signal } = new AbortController();
  const resolved: string[] = [];
  const wait = (name: string, moment: number, micros: number) =>
    order.wait('q', moment, micros, clock, signal).then(() => resolved.push(name));
  const waits = [wait('at once', 1_000, 1_000)];
  clock.advance(400);
  waits.push(wait('late', 2_000, 1_900)); // decided at 100, read at 400
  clock.advance(1_599);
  await turn();
  expect(resolved).toEqual(['at once']);
  clock.advance(1);
  await turn();
  expect(resolved).toEqual(['at once', 'late']);
  await Promise.all(waits);
});

test('no call resolves early after the clocks have drifted apart', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const { signal } = new AbortController();
  const resolved: string[] = [];
  const first = order.wait('q', 1_000, 1_000, clock, signal);
  clock.advance(1_000);
  await first;
  clock.advance(5_000_000);
  // The clock of the store has lost 300 µs meanwhile.
  const second = order.wait('q', 5_001_700, 1_000, clock, signal).then(() => resolved.push('second'));
  clock.advance(999);
  await turn();
  expect(resolved).toEqual([]);
  clock.advance(1);
  await second;
});

test('calls still resolve after the clock of the store went back by an hour', async () => {
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

test('a call without a wait overtakes calls that were booked before the clock of the store jumped forward', async () => {
  const clock = new UnorderedClock();
  const order = new WakeOrder();
  const { signal } = new AbortController();
  const resolved: string[] = [];
  const waits = [
    order.wait('q', 900_000, 800_000, clock, signal).then(() => resolved.push('booked')),
    order.wait('q', 5_000_000, 0, clock, signal).then(() => resolved.push('free')),
  ];
  await turn();
  expect(resolved).toEqual(['free']);
  clock.advance(800_000);
  await Promise.all(waits);
  expect(resolved).toEqual(['free', 'booked']);
});
