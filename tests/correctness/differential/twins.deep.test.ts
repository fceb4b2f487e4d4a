import { DEEP_RUNS, DEEP_SEED } from './runs.js';
import { compareTwins, expectedAnswers, subjects } from './twins-check.js';

test(`Lua answers as TypeScript does, over ${DEEP_RUNS} random histories of each kind`, async () => {
  const seen = await compareTwins(subjects, DEEP_RUNS, DEEP_SEED);
  const expected = subjects.map((subject) => [
    subject,
    expect.arrayContaining(expectedAnswers(subject, true)),
  ]);
  expect(seen).toEqual(Object.fromEntries(expected));
}, 3_600_000);
