import { DEEP_RUNS, DEEP_SEED } from './runs.js';
import { compareTwins, expectedAnswers, subjects } from './twins-check.js';

test.each(subjects)(
  `%s: Lua answers as TypeScript does, over ${DEEP_RUNS} random histories`,
  async (subject) => {
    const seen = await compareTwins([subject], DEEP_RUNS, DEEP_SEED);
    expect(seen[subject]).toEqual(expect.arrayContaining(expectedAnswers(subject, true)));
  },
  3_600_000,
);
