import { ms } from '../../../../../tests/support/timeline.js';
import { MAX_MICROS } from '../../duration.js';
import { NEVER, type State } from '../algorithm.js';
import { meterAlgorithm } from '../token-bucket/meter.js';
import { leakyBucket, leakyBucketKind } from './leaky-bucket.js';

const { wait, take } = meterAlgorithm;
const acquireWait = meterAlgorithm.booking!.acquireWait!;
const maxWait = meterAlgorithm.booking!.maxWait!;
const START = 1_735_689_600_000_000;
const rule = (capacity: number, leak: number) =>
  leakyBucketKind.compile(leakyBucket({ capacity, leak, every: '1s' }));

/** `count` calls at once that queue up: the moment at which each passes, or the wait that was too long. */
function queued(
  capacity: number,
  leak: number,
  count: number,
  cost = 1,
): { left: number[]; refused: number[] } {
  const { parameters } = rule(capacity, leak);
  const [left, refused]: [number[], number[]] = [[], []];
  let state: State | undefined;
  let last = 0;
  for (let i = 0; i < count; i++) {
    if (state !== undefined && state[0]! <= START + last) state = undefined;
    const moment = last + acquireWait(parameters, state, START + last, cost);
    if (moment > maxWait(parameters, cost)) {
      refused.push(moment);
      continue;
    }
    if (state !== undefined && state[0]! <= START + moment) state = undefined;
    state = take(parameters, state, START + moment, cost);
    left.push(moment);
    last = moment;
  }
  return { left, refused };
}

test('without waiting, a call that fits passes and one that would overflow is denied', () => {
  const { parameters } = rule(3, 2);
  let state: State | undefined;
  for (let i = 0; i < 3; i++) {
    expect(wait(parameters, state, START, 1)).toBe(0);
    state = take(parameters, state, START, 1);
  }
  expect(wait(parameters, state, START, 1)).toBe(ms(500));
  expect(wait(parameters, state, START + ms(500), 1)).toBe(0);
});

test('waiting calls pass half a second apart, up to the capacity, and the next is denied', () => {
  expect(queued(3, 2, 5)).toEqual({ left: [0, ms(500), ms(1000)], refused: [ms(1500), ms(1500)] });
});

test('a call that costs two permits takes the room of two', () => {
  expect(queued(6, 2, 4, 2)).toEqual({ left: [0, ms(1000), ms(2000)], refused: [ms(3000)] });
});

test('with a fractional interval in µs, rate and queue length are exact', () => {
  expect(queued(4, 3, 5)).toEqual({ left: [0, 333_333, 666_666, 1_000_000], refused: [1_333_333] });
  const { left } = queued(70_000, 700_000, 80_000);
  expect(left).toHaveLength(70_000);
  expect(left.at(-1)).toBe(99_998); // the 69,999th interval of 10/7 µs ends at 99,998.57
});

test('a call as large as the bucket waits until it is empty; a larger one never passes', () => {
  const { parameters } = rule(3, 3);
  const state = take(parameters, undefined, START, 1);
  expect(acquireWait(parameters, state, START, 3)).toBe(333_334);
  expect(acquireWait(parameters, undefined, START, 3)).toBe(0);
  expect(maxWait(parameters, 3)).toBe(0);
  expect([wait(parameters, undefined, START, 4), acquireWait(parameters, undefined, START, 4)]).toEqual([
    NEVER,
    NEVER,
  ]);
});

test('a call waits until exactly its moment, and not 1 µs less', () => {
  const { parameters } = rule(9, 7);
  const state = take(parameters, undefined, START, 5);
  const wait = acquireWait(parameters, state, START, 1);
  expect(wait).toBe(714_285);
  expect(acquireWait(parameters, state, START + wait - 1, 1)).toBe(1);
  expect(acquireWait(parameters, state, START + wait, 1)).toBe(0);
});

test('a bucket that does not queue gives acquire the moment of consume, without a bound on the wait', () => {
  const [perPermit, perTick, full, borrow, start] = rule(3, 2).parameters;
  const meter = [perPermit!, perTick!, full!, borrow!, start!, 0, 1];
  const state = take(meter, undefined, START, 1);
  expect(acquireWait(meter, state, START, 1)).toBe(0);
  expect(maxWait(meter, 1)).toBe(MAX_MICROS);
});

test('a policy is plain data, and its capacity is the limit', () => {
  expect(leakyBucket({ capacity: 3, leak: 2, every: '1s' })).toEqual({
    algorithm: 'leakyBucket',
    capacity: 3,
    leak: 2,
    every: 1000,
  });
  expect(rule(3, 2)).toMatchObject({ limit: 3, window: ms(1500) });
});

test.each([
  [{ capacity: 1.5, leak: 1, every: '1s' }, /capacity must be a whole number from 0 .* not 1.5/],
  [{ capacity: 5, leak: -1, every: '1s' }, /leak must be a whole number from 0 .* not -1/],
  [{ capacity: 5, leak: 1, every: 'soon' }, /every must be a duration/],
  [{ capacity: 5, refill: 1, every: '1s' }, /no option 'refill'/],
  [{ capacity: 5000, leak: 1, every: '1d' }, /capacity 5000 with leak 1 every 86400000 ms .* 3650 days/],
])('rejects the options %j', (options, message) => {
  expect(() => leakyBucket(options as never)).toThrow(message);
  expect(() => leakyBucketKind.compile({ algorithm: 'leakyBucket', ...options } as never)).toThrow(message);
});
