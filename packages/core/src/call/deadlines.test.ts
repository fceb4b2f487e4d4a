import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError } from '../errors.js';
import { Deadline, Deadlines } from './deadlines.js';

class Wait extends Deadline {
  constructor(readonly expire: () => void) {
    super();
  }
}

const listOf = (ms: number) => new Deadlines(ms, () => new StoreUnavailableError('late'));

/** Begins a wait. @returns what ends it */
function begin(deadlines: Deadlines, expire: () => void): () => void {
  const one = new Wait(expire);
  deadlines.begin(one, performance.now());
  return () => deadlines.end(one);
}

test('deadlines expire in the order in which they began, and once', async () => {
  const told: string[] = [];
  const deadlines = listOf(20);
  begin(deadlines, () => told.push('first'));
  await sleep(10);
  const stop = begin(deadlines, () => told.push('second'));
  await new Promise<void>((resolve) => {
    begin(deadlines, () => {
      told.push('third');
      resolve();
    });
  });
  expect(told).toEqual(['first', 'second', 'third']);
  stop();
  await sleep(30);
  expect(told).toHaveLength(3);
});

test('a deadline that has ended does not expire, whether or not others run', async () => {
  const told: string[] = [];
  const deadlines = listOf(10);
  const stops = ['a', 'b', 'c'].map((name) => begin(deadlines, () => told.push(name)));
  stops[0]!();
  stops[2]!();
  stops[2]!();
  await new Promise<void>((resolve) => {
    begin(deadlines, resolve); // after all the others
  });
  expect(told).toEqual(['b']);
});

test('it begins again after all have gone, and after its timer found nobody', async () => {
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

test('an expired call may begin again, and there is still one timer', async () => {
  const before = await quiet();
  const deadlines = listOf(20);
  const stops: (() => void)[] = [];
  const again = () => {
    stops.push(begin(deadlines, () => {}));
  };
  const told = new Promise<void>((resolve) => {
    begin(deadlines, () => {
      again();
      resolve();
    });
  });
  await sleep(1);
  again();
  await told;
  expect(timers()).toBe(before + 1);
  for (const stop of stops) stop();
  expect(timers()).toBe(before);
});

test('the timer keeps the process alive only while a call waits', async () => {
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

test('the store gets back the time in which the event loop was blocked', async () => {
  const told: string[] = [];
  const deadlines = listOf(50);
  const stop = begin(deadlines, () => told.push('answered'));
  setImmediate(stop);
  busy(100);
  await sleep(200);
  expect(told).toEqual([]);
});

test('without a reply the deadline expires, however busy the process is', async () => {
  const deadlines = listOf(20);
  const told = new Promise<string>((resolve) => {
    begin(deadlines, () => resolve('told'));
  });
  const work = setInterval(() => busy(30), 1);
  expect(await told).toBe('told');
  clearInterval(work);
});
