import { Follower } from './follower.js';
import type { RulesSource } from './rules-source.js';

const HOUR = 3_600_000;

const sourceOf = (read: RulesSource['read']): RulesSource => ({
  name: 'a store',
  identity: 'a store',
  every: HOUR,
  read,
});

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('an interval of 30 days, which is longer than any timer, does not read all the time', async () => {
  let reads = 0;
  const source = sourceOf(async () => {
    reads += 1;
    return undefined;
  });
  const follower = new Follower(source, '1', 30 * 24 * HOUR, {
    found: () => undefined,
    unchanged: () => undefined,
    failed: () => undefined,
  });
  await jest.advanceTimersByTimeAsync(1_000);
  expect(reads).toBe(0);
  follower.close();
});

test('a read that a notice began and that fails is repeated soon, however many reads failed before', async () => {
  let works = false;
  let reads = 0;
  let notice = (): void => undefined;
  const found: string[] = [];
  const read = async () => {
    reads += 1;
    if (!works) throw new Error('out');
    return { id: '2', text: '' };
  };
  const watch = (changed: () => void) => {
    notice = changed;
    return () => undefined;
  };
  const source = { ...sourceOf(read), watch };
  const follower = new Follower(source, '1', HOUR, {
    found: ({ id }) => found.push(id),
    unchanged: () => undefined,
    failed: () => undefined,
  });
  await follower.check();
  await jest.advanceTimersByTimeAsync(120_000);
  expect(reads).toBeLessThan(10); // pauses of 1, 2, 4, 8 … s
  notice();
  await jest.advanceTimersByTimeAsync(0);
  works = true;
  await jest.advanceTimersByTimeAsync(1_100);
  expect(found).toEqual(['2']);
  follower.close();
});
