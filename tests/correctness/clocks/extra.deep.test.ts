import { START } from '../../support/timeline.js';
import { type Key, memorySide, persistentRedisSide, type Side } from './sides.js';
import { DAY, HOUR, jumps, LIMIT, SECOND, type Subject, subjects } from './subjects.js';

let sides: Side[];
beforeAll(() => {
  sides = [memorySide(), persistentRedisSide()];
});
afterAll(() => Promise.all(sides.map((side) => side.close())));

/** The error of the clock, µs, at a real moment, µs after START. */
type Wrong = (real: number) => number;

/**
 * A caller that takes as many permits as it can get, at each of these real moments.
 * @returns the number of permits taken
 */
async function greedy(key: Key, moments: readonly number[], wrong: Wrong): Promise<number> {
  let taken = 0;
  for (const real of moments) {
    for (const started = taken; taken <= started + 10 * LIMIT; taken += 1) {
      if (!(await key.ask(START + real + wrong(real))).allowed) break;
    }
  }
  return taken;
}

const every = (step: number, until: number) =>
  Array.from({ length: Math.floor(until / step) + 1 }, (_, i) => i * step);

describe.each(Object.entries(subjects))('%s', (_, { policy, window, most }: Subject) => {
  const [step, span] = [Math.floor(window / 8), 4 * window];

  test('without a jump it admits what the policy promises, and no more', async () => {
    for (const side of sides) {
      const taken = await greedy(side.key(policy), every(step, span), () => 0);
      expect(taken).toBeLessThanOrEqual(most(span));
      expect(taken).toBeGreaterThanOrEqual(3 * LIMIT);
    }
  });

  test.each(Object.entries(jumps))('one jump %s admits at most one limit more', async (_, jump) => {
    for (const side of sides) {
      for (const when of [2 * step + 1, window, 2 * window - 1]) {
        const taken = await greedy(side.key(policy), every(step, span), (real) => (real < when ? 0 : jump));
        expect(taken).toBeLessThanOrEqual(most(span) + LIMIT);
      }
    }
  });

  test.each([SECOND, HOUR, DAY, 3650 * DAY])(
    'jumps to and fro by %d µs admit at most one limit more each',
    async (by) => {
      for (const side of sides) {
        const away: Wrong = (real) => (Math.floor(real / (3 * step)) % 2 === 1 ? by : 0);
        const taken = await greedy(side.key(policy), every(step, span), away);
        const changes = Math.floor(span / (3 * step));
        expect(taken).toBeLessThanOrEqual(most(span) + LIMIT * changes);
      }
    },
  );
});
