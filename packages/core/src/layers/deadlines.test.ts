import { setTimeout as sleep } from 'node:timers/promises';
import { Deadlines } from './deadlines.js';

test('who waits is told when the time has passed, in the order in which the waits began, and once', async () => {
  const told: string[] = [];
  const deadlines = new Deadlines(20);
  deadlines.begin(() => told.push('first'));
  await sleep(10);
  const stop = deadlines.begin(() => told.push('second'));
  await new Promise<void>((resolve) => {
    deadlines.begin(() => {
      told.push('third');
      resolve();
    });
  });
  expect(told).toEqual(['first', 'second', 'third']);
  stop();
  await sleep(30);
  expect(told).toHaveLength(3);
});

test('who stopped waiting is told nothing, whoever waits beside him', async () => {
  const told: string[] = [];
  const deadlines = new Deadlines(10);
  const stops = ['a', 'b', 'c'].map((name) => deadlines.begin(() => told.push(name)));
  stops[0]!();
  stops[2]!();
  stops[2]!();
  await sleep(40);
  expect(told).toEqual(['b']);
});

test('it begins again after all have gone, and after its timer found nobody', async () => {
  const deadlines = new Deadlines(10);
  deadlines.begin(() => {})();
  await new Promise<void>((resolve) => {
    deadlines.begin(resolve);
  });
  deadlines.begin(() => {})();
  await sleep(30);
  await new Promise<void>((resolve) => {
    deadlines.begin(resolve);
  });
});

test('the timer holds the process only while somebody waits', () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const deadlines = new Deadlines(600_000);
  const stops = [deadlines.begin(() => {}), deadlines.begin(() => {})];
  expect(timers()).toBe(before + 1);
  stops[0]!();
  expect(timers()).toBe(before + 1);
  stops[1]!();
  expect(timers()).toBe(before);
  const stop = deadlines.begin(() => {});
  expect(timers()).toBe(before + 1);
  stop();
  expect(timers()).toBe(before);
});
