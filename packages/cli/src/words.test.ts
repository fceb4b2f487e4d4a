import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import { shown, table, widthOf, wrapped } from './text.js';
import { lengthOf, policyOf, timeOf } from './words.js';

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
])('%s ms is %s', (ms, text) => {
  expect(lengthOf(ms)).toBe(text);
});

test("today's moments have no date", () => {
  const now = new Date(2026, 10, 22, 9, 5, 7).getTime() * 1_000;
  expect(timeOf(now, now)).toBe('09:05:07');
  expect(timeOf(now + 86_400_000_000, now)).toBe('2026-11-23 09:05:07');
});

test.each([
  [fixedWindow({ limit: 5, window: '1m' }), '5 per 1 min (fixedWindow)'],
  [fixedWindow({ limit: 5, window: '1h', align: 'clock' }), '5 per 1 h by the clock (fixedWindow)'],
  [fixedWindow({ limit: 5, window: '1d', timeZone: 'Asia/Tokyo' }), '5 per 1 d, in Asia/Tokyo (fixedWindow)'],
  [fixedWindow({ limit: 5, window: '1 month', anchor: 15 }), '5 per 1 month from 15, in UTC (fixedWindow)'],
  [slidingWindow({ limit: 5, window: '1h', slots: 6 }), '5 in any 1 h, 6 slots (slidingWindow)'],
  [slidingLog({ limit: 3, window: '1s' }), '3 in any 1 s (slidingLog)'],
  [tokenBucket({ capacity: 10, refill: 1, every: '1s' }), '10 at once, 1 more every 1 s (tokenBucket)'],
  [gcra({ limit: 10, period: '1m', burst: 3 }), '10 per 1 min, 3 at once (gcra)'],
  [leakyBucket({ capacity: 5, leak: 1, every: '1s' }), '5 at once, 1 leave every 1 s (leakyBucket)'],
  [concurrency({ limit: 3, lease: '30s' }), '3 at the same time, leases of 30 s (concurrency)'],
  [{ algorithm: 'newer', numbers: 3 } as never, '{"numbers":3} (newer)'],
])('a policy in words: %o', (policy, text) => {
  expect(policyOf(policy)).toBe(text);
});

test('nothing in a name commands the terminal or turns the text around', () => {
  expect(shown('a\u001b[2J\n\u202eb\u0000\u200b')).toBe('a\\u{1b}[2J\\u{a}\\u{202e}b\\u{0}\\u{200b}');
  expect(shown("<b>'é😀ش")).toBe("<b>'é😀ش");
});

test('a table that is too wide becomes blocks, and no line is wider than the terminal unless a word is', () => {
  const rows = [
    ['login', 'a policy with several words in it'],
    ['api', ''],
  ];
  expect(table(['NAME', 'POLICY'], rows, 80).split('\n')).toEqual([
    'NAME   POLICY',
    'login  a policy with several words in it',
    'api',
  ]);
  const narrow = table(['NAME', 'POLICY'], rows, 30).split('\n');
  expect(narrow).toEqual([
    'NAME    login',
    'POLICY  a policy with several',
    '        words in it',
    '',
    'NAME    api',
  ]);
  expect(wrapped('x'.repeat(50), 20)).toBe('x'.repeat(50));
  expect(widthOf('\u001b[31mred\u001b[39m')).toBe(3);
});
