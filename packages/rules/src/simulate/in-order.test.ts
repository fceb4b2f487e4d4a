import { InOrder } from './in-order.js';
import { LogRequest } from './log/log-request.js';

const request = (time: number, url = '/') =>
  new LogRequest({ time, ip: undefined, user: undefined, method: 'GET', url });

function sorted(times: readonly number[], within: number, most?: number) {
  const order = new InOrder(within, most);
  const left: number[] = [];
  const drain = (end: boolean) => {
    for (let next = order.next(end); next !== undefined; next = order.next(end)) left.push(next.time);
  };
  for (const time of times) {
    order.add(request(time));
    drain(false);
  }
  drain(true);
  return { left, late: order.late };
}

test('requests slightly out of order are sorted', () => {
  expect(sorted([5, 3, 9, 7, 8, 20, 12], 10)).toEqual({ left: [3, 5, 7, 8, 9, 12, 20], late: 0 });
});

test('requests that arrive too late are counted as late and still returned', () => {
  expect(sorted([5, 30, 3, 40], 10)).toEqual({ left: [5, 3, 30, 40], late: 1 });
});

test('a moment far ahead stays buffered until the end, without making the others late', () => {
  expect(sorted([1, 1_000_000, 2, 3, 4], 10)).toEqual({ left: [1, 2, 3, 4, 1_000_000], late: 0 });
});

test('at most the given number of requests are buffered', () => {
  const times = Array.from({ length: 5_000 }, (_, i) => (i * 7_919) % 5_000);
  const { left, late } = sorted(times, 1e9, 100);
  expect([...left].sort((a, b) => a - b)).toEqual(Array.from({ length: 5_000 }, (_, i) => i));
  expect(late).toBeGreaterThan(0);
});

test('requests of equal time keep their order', () => {
  const order = new InOrder(10);
  for (const url of ['/1', '/2', '/3']) order.add(request(5, url));
  expect([order.next(true), order.next(true), order.next(true)].map((one) => one!.path)).toEqual([
    '/1',
    '/2',
    '/3',
  ]);
});
