import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError } from '../errors.js';
import { Deadline, Deadlines } from './deadlines.js';

class Wait extends Deadline {
  constructor(readonly expire: () => void) {
    super();
  }
}

const listOf = (ms: number) => new Deadlines(ms, () => new StoreUnavailableError('late'));

/** Starts a deadline. @returns the function that ends it */
function begin(deadlines: Deadlines, expire: () => void): () => void {
  const one = new Wait(expire);
  deadlines.begin(one, performance.now());
  return () => deadlines.end(one);
}

test('deadlines expire in the order in which they began, once each', async () => {
  const expired: string[] = [];
  const deadlines = listOf(20);
  begin(deadlines, () => expired.push('first'));
  await sleep(10);
  const stop = begin(deadlines, () => expired.push('second'));
  await new Promise<void>((resolve) => {
    begin(deadlines, () => {
      expired.push('third');
      resolve();
    });
  });
  expect(expired).toEqual(['first', 'second', 'third']);
  stop();
  await sleep(30);
  expect(expired).toHaveLength(3);
});

test('an ended deadline does not expire, whether or not others run', async () => {
  const expired: string[] = [];
  const deadlines = listOf(10);
  const stops = ['a', 'b', 'c'].map((name) => begin(deadlines, () => expired.push(name)));
  stops[0]!();
  stops[2]!();
  stops[2]!();
  await new Promise<void>((resolve) => {
    begin(deadlines, resolve); // after all the others
  });
  expect(expired).toEqual(['b']);
});

test('the timer starts again after all deadlines ended, and after it fired without any', async () => {
  const deadlines = listOf(10);
  begin(deadlines, () => {})();
  await new Promise<void>((resolve) => {
    begin(deadlines, resolve);
  });
  begin(deadlines, () => {})();
  await sleep(30);
  await new Promise<void>((resolve) => {
    begin(deadlines, resolve);
  });
});

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Waits until the timers of earlier tests have ended. @returns how many active timers remain */
async function quiet(): Promise<number> {
  for (let before = -1, same = 0; same < 10; ) {
    await sleep(50);
    const now = timers();
    same = now === before ? same + 1 : 0;
    before = now;
  }
  return timers();
}

test('an expired call can begin again, and there is still one timer', async () => {
  const before = await quiet();
  const deadlines = listOf(20);
  const stops: (() => void)[] = [];
  const again = () => {
    stops.push(begin(deadlines, () => {}));
  };
  const expired = new Promise<void>((resolve) => {
    begin(deadlines, () => {
      again();
      resolve();
    });
  });
  await sleep(1);
  again();
  await expired;
  expect(timers()).toBe(before + 1);
  for (const stop of stops) stop();
  expect(timers()).toBe(before);
});

test('the timer keeps the process alive only while a deadline runs', async () => {
  const before = await quiet();
  const deadlines = listOf(600_000);
  const stops = [begin(deadlines, () => {}), begin(deadlines, () => {})];
  expect(timers()).toBe(before + 1);
  stops[0]!();
  expect(timers()).toBe(before + 1);
  stops[1]!();
  expect(timers()).toBe(before);
  const stop = begin(deadlines, () => {});
  expect(timers()).toBe(before + 1);
  stop();
  expect(timers()).toBe(before);
});

const busy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

test('the time in which the event loop was blocked does not count towards the deadline', async () => {
  const expired: string[] = [];
  const deadlines = listOf(50);
  const stop = begin(deadlines, () => expired.push('answered'));
  setImmediate(stop);
  busy(100);
  await sleep(200);
  expect(expired).toEqual([]);
});

test('without a reply the deadline expires, however busy the process is', async () => {
  const deadlines = listOf(20);
  const expired = new Promise<string>((resolve) => {
    begin(deadlines, () => resolve('expired'));
  });
  const work = setInterval(() => busy(30), 1);
  expect(await expired).toBe('expired');
  clearInterval(work);
});
