import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { randomFrom } from '../../support/random.js';
import { run } from '../../support/run.js';
import { runs } from '../../support/runs.js';
import { cases } from './oracles.js';
import { walk } from './walk.js';

/** Steps for each algorithm: at random rates, and enough steps at each that rounding would add up. */
const STEPS = Number(process.env.SLUICE_EXACTNESS_STEPS ?? runs(10_000_000).numRuns);

let walks: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  walks = await bundle(join(__dirname, 'walks.ts'));
});
afterAll(() => walks.remove());

test.each(Object.keys(cases))(
  `%s: equals its plain rule over ${STEPS} random steps`,
  async (name) => {
    const walked = await run(process.execPath, [walks.file, name, String(STEPS)], { timeoutMs: 600_000 });
    expect(walked).toEqual({ ok: true, output: '' });
  },
  600_000,
);

test('a rule with one permit more or less differs', () => {
  for (const name of Object.keys(cases)) {
    for (const off of [-1, 1]) {
      const random = randomFrom(7);
      const right = cases[name]!(random);
      const wrong = walk({ ...right, left: (now) => right.left(now) + off }, 20_000, random);
      expect(wrong).toMatch(/permits were left/);
    }
  }
});
