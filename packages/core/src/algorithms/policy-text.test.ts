import { lengthText } from '../duration.js';
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.js';
import { policyText } from './index.js';

test.each([
  [0, '0 ms'],
  [0.2, '1 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [1_001, '2 s'],
  [59_001, '1 min'],
  [60_000, '1 min'],
  [61_000, '1 min 1 s'],
  [3_599_001, '1 h'],
  [5_400_000, '1 h 30 min'],
  [86_399_000, '1 d'],
  [90_000_000, '1 d 1 h'],
  [86_407_000, '1 d 7 s'],
  [86_467_000, '1 d 2 min'],
  [86_400_000 + 3_595_000, '1 d 1 h'],
  [97_500_000, '1 d 4 h'],
  [1e300, expect.stringMatching(/ d/)],
])('lengthText of %s ms is %s', (ms, text) => {
  expect(lengthText(ms)).toEqual(text);
});

test.each([
  [fixedWindow({ limit: 5, window: '1m' }), '5 per 1 min'],
  [fixedWindow({ limit: 5, window: '1h', align: 'clock' }), '5 per 1 h by the clock'],
  [fixedWindow({ limit: 5, window: '1d', timeZone: 'Asia/Tokyo' }), '5 per 1 d, in Asia/Tokyo'],
  [fixedWindow({ limit: 5, window: '1 month', anchor: 15 }), '5 per 1 month from 15, in UTC'],
  [slidingWindow({ limit: 5, window: '1h', slots: 6 }), '5 in any 1 h, 6 slots'],
  [slidingLog({ limit: 3, window: '1s' }), '3 in any 1 s'],
  [tokenBucket({ capacity: 10, refill: 1, every: '1s' }), '10 at once, 1 more every 1 s'],
  [gcra({ limit: 10, period: '1m', burst: 3 }), '10 per 1 min, 3 at once'],
  [leakyBucket({ capacity: 5, leak: 1, every: '1s' }), '5 at once, 1 leaves every 1 s'],
  [concurrency({ limit: 3, lease: '30s' }), '3 at the same time, leases of 30 s'],
  [fixedWindow({ limit: 5, window: 97_561_000 }), '5 per 1 d 3 h 6 min 1 s'],
  [fixedWindow({ limit: 5, window: 1_500 }), '5 per 1 s 500 ms'],
  [fixedWindow({ limit: 5, window: 0.25 }), '5 per 0.25 ms'],
  [{ algorithm: 'newer', numbers: 3 } as never, '{"numbers":3}'],
])('policyText of %o is %s', (policy, text) => {
  expect(policyText(policy)).toBe(text);
});
