import { HoldLog, type Rule } from './judge-of-holds.js';
import type { Entry } from './recording.js';

const TTL = 1_000;
const whole: Rule = { limit: 10, kind: 'whole' };
const sliding: Rule = { limit: 10, kind: 'sliding', window: 500 };
const running: Rule = { limit: 10, kind: 'running' };

/** Calls of one process: operation, hold, kind, moment at which it is sent, amount; and the moment of the decision, if it has an answer. */
type Written = readonly ['hold' | 'settle', string, number, number, number, number?];

const logOf = (...processes: readonly (readonly Written[])[]): HoldLog =>
  new HoldLog(
    processes.map((calls) =>
      calls.flatMap(([operation, hold, kind, sent, amount, now], n): Entry[] => {
        const amounts = [amount];
        const begin = { n, operation, hold, kind, sent, budgets: ['usd a'], amounts };
        return now === undefined ? [begin] : [begin, { n, now, allowed: true, amounts }];
      }),
    ),
    TTL,
  );

const [KEEP, REFUND] = [1, 2];
const twice = (kind: number, later: number): HoldLog =>
  logOf([['hold', 'a', kind, 0, 6, 10]], [['hold', 'b', kind, later, 6, later + 10]]);

test.each([
  ['whole', whole, KEEP, 50_000, 12],
  ['whole', whole, REFUND, 900, 12],
  ['whole', whole, REFUND, 1_100, 6],
  ['sliding', sliding, KEEP, 400, 12],
  ['sliding', sliding, KEEP, 600, 6],
  ['sliding', sliding, REFUND, 600, 12],
  ['running', running, KEEP, 900, 12],
  ['running', running, KEEP, 1_100, 6],
])('a %s budget with two holds of 6: rule %j, kind %p, %p µs apart, has %p', (_, rule, kind, later, sum) => {
  expect(twice(kind, later).mostOf('usd a', rule).sum).toBe(sum);
});

test.each([
  ['counts what was used', whole, 40, 8],
  ['counts for a window after it', sliding, 400, 8],
  ['leaves its window', sliding, 700, 6],
  ['frees what runs', running, 40, 6],
])('a settled hold %s', (_, rule, later, sum) => {
  const first = [
    ['hold', 'a', REFUND, 0, 6, 10],
    ['settle', 'a', 0, 20, 2, 30],
  ] as const;
  expect(logOf(first, [['hold', 'b', REFUND, later, 6, later + 10]]).mostOf('usd a', rule).sum).toBe(sum);
});

test('an amount that a hold added later leaves the window later, and is the first to count as unused', () => {
  const grown = [
    ['hold', 'a', KEEP, 0, 6, 10],
    ['hold', 'a', 0, 300, 9, 310],
    ['settle', 'a', 0, 350, 8, 360],
  ] as const;
  const at = (later: number) => logOf(grown, [['hold', 'b', KEEP, later, 1, later]]).mostOf('usd a', sliding);
  expect(at(320).sum).toBe(10);
  expect(at(400).sum).toBe(9);
  expect(logOf(grown.slice(1)).mostOf('usd a', sliding).sum).toBe(9);
});

test('at the end, a call without an answer counts or does not', () => {
  const unanswered = logOf([['hold', 'a', KEEP, 0, 6, 10]], [['hold', 'b', KEEP, 0, 3]]);
  expect(unanswered.usedOf('usd a')).toEqual({ from: 6, to: 9 });
  const settling = logOf([
    ['hold', 'a', KEEP, 0, 6, 10],
    ['settle', 'a', 0, 20, 2],
  ]);
  expect(settling.usedOf('usd a')).toEqual({ from: 2, to: 6 });
  const settled = logOf([
    ['hold', 'a', REFUND, 0, 6, 10],
    ['settle', 'a', 0, 20, 2],
    ['settle', 'a', 0, 40, 2, 50],
  ]);
  expect(settled.usedOf('usd a')).toEqual({ from: 2, to: 2 });
  expect(settled.lost).toBe(1);
});
