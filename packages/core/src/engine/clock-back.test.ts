import { conformances } from '../../../../tests/support/conformance/all.js';
import { ms, seconds, Timeline } from '../../../../tests/support/timeline.js';
import { compilePolicy } from '../algorithms/index.js';

const HOUR = seconds(3600);
const WINDOW = seconds(10);

const policies = conformances.flatMap(({ policies, holds, spaces }) =>
  Object.entries(policies).map(([name, policyOf]) => ({
    name,
    holds,
    spaces,
    policyOf: (permits: number) => policyOf('10s', permits),
  })),
);
/** One slot of a sliding window. */
const MORE = seconds(1);

describe.each(policies)('$name: when the clock goes back by an hour,', ({ holds, spaces, policyOf }) => {
  const start = 2 * HOUR;

  test('no key is denied for longer than a window', () => {
    const line = new Timeline(policyOf(2));
    line.consume(start, 2);
    const { allowed, wait } = line.ask(start - HOUR, { cost: 2 });
    expect(allowed).toBe(false);
    expect(wait).toBeLessThanOrEqual(WINDOW + MORE);
    expect(line.consume(start - HOUR + wait, 2)).toBe(true);
  });

  test('bookings and the next call keep their distance from now', () => {
    if (holds) return;
    const cost = spaces ? 1 : 2;
    const line = new Timeline(policyOf(2));
    line.consume(start, cost);
    line.book(start, cost);
    if (!spaces) line.book(start, cost);
    const before = line.ask(start, { operation: 'peek', cost });
    const after = line.ask(start - HOUR, { operation: 'peek', cost });
    expect(after.wait).toBeLessThanOrEqual(before.wait + MORE);
    expect(line.ask(start - HOUR, { cost })).toMatchObject({ allowed: false, wait: after.wait });
    expect(line.consume(start - HOUR + after.wait, cost)).toBe(true);
    expect(line.ask(start - HOUR + after.wait + 4 * WINDOW, { operation: 'peek' }).parts[0]).toMatchObject({
      reset: 0,
    });
  });

  test('a block keeps its length', () => {
    const line = new Timeline(policyOf(2));
    line.ask(start, { operation: 'block', wait: seconds(30) });
    line.ask(start + seconds(10));
    const back = start - HOUR;
    // The moment of the last write shows how far the clock went back: at most 30 s remain.
    const { allowed, wait } = line.ask(back);
    expect(allowed).toBe(false);
    expect(wait).toBeLessThanOrEqual(seconds(30));
    expect(line.ask(back + ms(1), { operation: 'peek' }).wait).toBe(wait - ms(1));
    expect(line.consume(back + wait)).toBe(true);
  });

  test('an override keeps its length', () => {
    const line = new Timeline(policyOf(2));
    const override = compilePolicy(policyOf(5)).parameters;
    line.ask(start, { operation: 'override', wait: seconds(60), override });
    const back = start - HOUR;
    expect(line.consume(back, 5)).toBe(true);
    expect(line.ask(back + seconds(59), { operation: 'peek', cost: 5 }).parts[0]!.override).toBeDefined();
    expect(line.ask(back + seconds(60), { operation: 'peek' }).parts[0]!.override).toBeUndefined();
  });
});

describe.each(policies.filter(({ holds }) => !holds))(
  '$name: when the clock goes back by up to 10 ms,',
  ({ policyOf }) => {
    test.each([10, 1, 0.001])('by %p ms, a refund returns what was taken before', (back) => {
      const line = new Timeline(policyOf(2));
      const start = 2 * HOUR;
      const { at } = line.ask(start, { cost: 2 }).parts[0]!;
      line.ask(start - ms(back), { operation: 'refund', cost: 2, at });
      expect(line.consume(start, 2)).toBe(true);
    });

    test('a refund returns one of two permits, and the other one stays taken', () => {
      const line = new Timeline(policyOf(2));
      const start = 2 * HOUR;
      line.consume(start);
      const { at } = line.ask(start + 1).parts[0]!;
      line.ask(start - ms(9), { operation: 'refund', at });
      expect([line.consume(start + 1), line.consume(start + 1)]).toEqual([true, false]);
    });
  },
);
